//go:build race

package openai

const raceDetector = true
