// Package packaging has the recipe of a container image, and what runs it on the
// nodes of a cluster.
package packaging
