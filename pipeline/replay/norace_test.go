//go:build !race

package replay

// raced says that the race detector is on, which allocates itself.
const raced = false
