package loopbacktest

import (
	"slices"
	"strings"
)

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

// Words are the words of a text, each with the space after it.
func Words(text string) []string {
	list := strings.SplitAfter(text, " ")
	return slices.DeleteFunc(list, func(w string) bool { return w == "" })
}

// Pairs are a text two words at a time.
func Pairs(text string) (list []string) {
	for pair := range slices.Chunk(Words(text), 2) {
		list = append(list, strings.Join(pair, ""))
	}
	return list
}

// pieceSizes are how many characters come at once: awkward ones, that cut names and numbers.
var pieceSizes = []int{1, 7, 2, 12, 3, 5}

// Pieces are a text in pieces that are no whole words of JSON.
func Pieces(text string) (list []string) {
	rest := []rune(text)
	for i := 0; len(rest) > 0; i++ {
		n := min(pieceSizes[i%len(pieceSizes)], len(rest))
		list, rest = append(list, string(rest[:n])), rest[n:]
	}
	return list
}
