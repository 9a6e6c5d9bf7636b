//go:build !race

package document

// maxMemory is what a child may have, in bytes.
const maxMemory = 600 << 20
