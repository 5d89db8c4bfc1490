function cluster_graph(graphs_file, aligned_file, labels_file, k, seed)
% Clusters the fused graph that anchor-align wrote and, for comparison, the unaligned mean of the graphs.
G = load(graphs_file);
A = load(aligned_file);
plain = G.Z{1};
for v = 2:numel(G.Z)
  plain = plain + G.Z{v};
end
aligned = spectral(A.fused, k, seed);
unaligned = spectral(plain / numel(G.Z), k, seed);
save(labels_file, 'aligned', 'unaligned', '-v7');
end

function labels = spectral(Z, k, seed)
rng(seed);
[U, ~, ~] = svd(full(Z), 'econ');
U = U(:, 1:min(k, end));
labels = lloyd(U ./ max(sqrt(sum(U .^ 2, 2)), eps), k, 10);
end
