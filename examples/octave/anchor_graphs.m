function anchor_graphs(views_file, graphs_file, m, seed)
% The third-party method: m anchors in every view; each sample has weight on its nearest anchors.
% Reads the cell X of views (samples x features), writes the cell Z of graphs (samples x anchors).
rng(seed);  % once: a seed shared by all views would make their anchors alike
S = load(views_file);
near = min(5, m - 1);
Z = cell(1, numel(S.X));
for v = 1:numel(Z)
  X = full(double(S.X{v}));
  X = (X - mean(X, 1)) ./ max(std(X, 0, 1), 1e-9);
  [~, D] = lloyd(X, m, 1);
  [D, order] = sort(D, 2);
  W = D(:, near + 1) - D(:, 1:near) + eps;  % nearer weighs more, the first of the others nothing
  W = W ./ sum(W, 2);
  rows = repmat((1:size(X, 1))', 1, near);
  Z{v} = sparse(rows, order(:, 1:near), W, size(X, 1), m);
end
save(graphs_file, 'Z', '-v7');
end
