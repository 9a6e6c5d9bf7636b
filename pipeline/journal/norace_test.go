//go:build !race

package journal

// raced says that the race detector is on, which allocates itself.
const raced = false
