//go:build !race

package inference_test

const raceDetector = false
