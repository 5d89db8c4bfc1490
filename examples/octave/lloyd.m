function [labels, D] = lloyd(X, k, restarts)
% k-means from random samples, the best of some restarts; base Octave has none.
% D: squared distance of every sample to every centre.
best = Inf;
for start = 1:restarts
  C = X(randperm(size(X, 1), k), :);
  last = [];
  for step = 1:100
    squares = max(sum(X .^ 2, 2) + sum(C .^ 2, 2)' - 2 * X * C', 0);
    [nearest, at] = min(squares, [], 2);
    if isequal(at, last), break, end
    for j = unique(at)'  % a centre without samples stays where it is
      C(j, :) = mean(X(at == j, :), 1);
    end
    last = at;
  end
  if sum(nearest) < best
    best = sum(nearest);
    labels = at;
    D = squares;
  end
end
end
