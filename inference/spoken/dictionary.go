package spoken

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Entry says how a word, or several, is pronounced.
type Entry struct {
	Word string `json:"word"` // as it is written; case does not matter
	Say  string `json:"say"`  // as it would be written if it were written as it sounds
}

// Bounds of a dictionary.
const (
	MaxEntries = 500
	MaxBytes   = 200 // of a Word and of a Say
)

// Check says what is wrong with a dictionary, in one sentence; nil is well.
func Check(dictionary []Entry) error {
	if len(dictionary) > MaxEntries {
		return fmt.Errorf("pronunciation has %d entries, allowed are %d", len(dictionary), MaxEntries)
	}
	for i, e := range dictionary {
		for _, f := range [2]struct{ name, text string }{{"word", e.Word}, {"say", e.Say}} {
			switch {
			case strings.TrimSpace(f.text) == "" || !strings.ContainsFunc(f.text, wordRune):
				return fmt.Errorf("pronunciation: entry %d has a %s without a letter or digit", i+1, f.name)
			case len(f.text) > MaxBytes:
				return fmt.Errorf("pronunciation: the %s of entry %d has %d bytes, allowed are %d", f.name, i+1, len(f.text), MaxBytes)
			case !utf8.ValidString(f.text):
				return fmt.Errorf("pronunciation: the %s of entry %d is not UTF-8", f.name, i+1)
			}
		}
	}
	return nil
}

// Dictionary is made for looking up. It does not change; it belongs to no language.
type Dictionary struct {
	words   map[string][]entry
	entries []Entry
}

type entry struct {
	word []rune
	say  string
}

// Entries is what the dictionary was made of. The slice is the dictionary's.
func (d *Dictionary) Entries() []Entry {
	if d == nil {
		return nil
	}
	return d.entries
}

// NewDictionary makes a dictionary of entries, which it does not keep; nil of none.
func NewDictionary(entries []Entry) *Dictionary {
	if len(entries) == 0 {
		return nil
	}
	d := &Dictionary{words: map[string][]entry{}, entries: slices.Clone(entries)}
	for _, e := range entries {
		word := []rune(strings.TrimSpace(e.Word))
		if len(word) == 0 {
			continue
		}
		k := key(word, 0)
		d.words[k] = append(d.words[k], entry{word, strings.TrimSpace(Plain(e.Say))})
	}
	for _, list := range d.words {
		slices.SortStableFunc(list, func(a, b entry) int { return len(b.word) - len(a.word) })
	}
	return d
}

// key is what the entries that may begin at index i of t are found by: the word
// there, or its one character when that is no letter or digit.
func key(t []rune, i int) string {
	end := i
	for end < len(t) && end < i+maxWord && wordRune(t[end]) {
		end++
	}
	return strings.ToLower(string(t[i:max(end, i+1)]))
}

// lookUp says what the dictionary has for the longest words that begin here.
func (s *scan) lookUp() bool {
	if s.r.dictionary == nil {
		return false
	}
	for _, e := range s.r.dictionary.words[key(s.t, s.i)] {
		end := s.i + len(e.word)
		if end > len(s.t) || !strings.EqualFold(string(s.t[s.i:end]), string(e.word)) {
			continue
		}
		if wordRune(e.word[len(e.word)-1]) && end < len(s.t) && wordRune(s.t[end]) {
			continue
		}
		// What it says is read too, so that no digit is left.
		s.say(end, strings.TrimSpace((&Reader{l: s.l}).Read(e.say).Spoken))
		return true
	}
	return false
}
