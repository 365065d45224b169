// Package dataset does with files of training samples what does not depend on
// their format: it opens and creates them by name, converts, filters, counts,
// shuffles and splits them. Memory stays bounded whatever their size.
package dataset
