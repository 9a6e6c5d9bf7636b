//go:build race

package pipeline

// raced says that the race detector is on, which allocates itself.
const raced = true
