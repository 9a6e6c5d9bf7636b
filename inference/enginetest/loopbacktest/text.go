package loopbacktest

import "strings"

// Sentences is how many bytes of a text are whole sentences, with the spaces after the last.
func Sentences(text string) int {
	end := strings.LastIndexAny(text, ".!?…。！？\n")
	if end < 0 {
		return 0
	}
	for i, r := range text[end:] {
		if i > 0 && r != ' ' && r != '"' && r != '\'' {
			return end + i
		}
	}
	return len(text)
}
