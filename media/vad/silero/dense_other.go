//go:build !amd64

package silero

// times writes the product with x to y.
func (d *dense) times(y, x []float32) { d.plain(y, x) }
