package synthesiser

import (
	"strings"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

// Marks are words with their times in seconds; what has no text is left out.
func Marks(words []string, starts, ends []float64) (marks []inference.Mark) {
	for i := range min(len(words), len(starts), len(ends)) {
		if text := strings.TrimSpace(words[i]); text != "" {
			marks = append(marks, inference.Mark{Text: text, Char: -1,
				Start: remote.Time(starts[i], time.Second), End: remote.Time(max(starts[i], ends[i]), time.Second)})
		}
	}
	return marks
}
