"""Anchor graphs: rows, Gram matrices, missing samples, maps of columns, spectral embedding."""

from ._column_maps import Order as Order
from ._column_maps import aligned_product as aligned_product
from ._column_maps import check_orders as check_orders
from ._column_maps import n_columns as n_columns
from ._column_maps import order_matrix as order_matrix
from ._column_maps import permute_columns as permute_columns
from ._grams import GramMatrices as GramMatrices
from ._graph_sets import GraphSet as GraphSet
from ._graph_sets import MadeGraphs as MadeGraphs
from ._graph_sets import StoredGraphs as StoredGraphs
from ._graph_sets import common_dtype as common_dtype
from ._graph_sets import numbers_of_sample as numbers_of_sample
from ._graph_sets import samples_of as samples_of
from ._graph_sets import store as store
from ._missing import MISSING as MISSING
from ._missing import PairSums as PairSums
from ._missing import check_mask as check_mask
from ._missing import check_missing as check_missing
from ._missing import check_present as check_present
from ._missing import without_missing as without_missing
from ._spectral import SpectralEmbedding as SpectralEmbedding
from ._spectral import count_directions as count_directions
from ._spectral import kmeans_labels as kmeans_labels
from ._spectral import spectral_embedding as spectral_embedding
from ._spectral import spectral_labels as spectral_labels
