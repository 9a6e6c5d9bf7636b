//go:build race

package document

// maxMemory is no limit: the race detector alone has more than a child may.
const maxMemory = 0
