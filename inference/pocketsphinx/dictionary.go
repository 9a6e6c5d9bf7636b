package pocketsphinx

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// dictionary cuts the pronouncing dictionary at path to words and returns it
// with the number of words whose sounds had to be guessed from their letters.
func dictionary(path string, words map[string]bool) (cut []byte, guessed int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("pronouncing dictionary (is pocketsphinx-en-us installed?): %w", err)
	}
	defer f.Close()
	found := map[string]bool{}
	var b bytes.Buffer
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		entry, _, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		base, _, _ := bytes.Cut(entry, []byte("(")) // "word(2)" is another way to say it
		if words[string(base)] {
			found[string(base)] = true
			b.Write(lines.Bytes())
			b.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, err
	}
	var missing []string
	for w := range words {
		if !found[w] {
			missing = append(missing, w)
		}
	}
	slices.Sort(missing)
	for _, w := range missing {
		fmt.Fprintf(&b, "%s %s\n", w, strings.Join(guess(w), " "))
	}
	return b.Bytes(), len(missing), nil
}

// letterSounds are the usual sounds of English spellings, in ARPABET. The longest
// that fits is taken; names and brands come out near enough to be recognised.
var letterSounds = map[string]string{
	"tion": "SH AH N", "sion": "ZH AH N", "ture": "CH ER", "ough": "AO", "augh": "AO", "eigh": "EY",
	"igh": "AY", "tch": "CH", "dge": "JH", "sch": "SH", "eau": "OW", "air": "EH R", "ear": "IH R", "eer": "IH R", "our": "AO R", "oor": "AO R",
	"ch": "CH", "sh": "SH", "th": "TH", "ph": "F", "wh": "W", "gh": "G", "ck": "K", "qu": "K W", "ng": "NG", "kn": "N", "wr": "R",
	"oo": "UW", "ee": "IY", "ea": "IY", "ai": "EY", "ay": "EY", "oa": "OW", "ow": "OW", "ou": "AW", "oi": "OY", "oy": "OY", "au": "AO", "aw": "AO",
	"ie": "IY", "ei": "EY", "ey": "IY", "ew": "UW", "ue": "UW", "er": "ER", "ir": "ER", "ur": "ER", "ar": "AA R", "or": "AO R",
	"ce": "S", "ci": "S IH", "cy": "S IY", "ge": "JH", "gi": "JH IH", "gy": "JH IY",
	"a": "AE", "b": "B", "c": "K", "d": "D", "e": "EH", "f": "F", "g": "G", "h": "HH", "i": "IH", "j": "JH", "k": "K", "l": "L", "m": "M",
	"n": "N", "o": "AA", "p": "P", "q": "K", "r": "R", "s": "S", "t": "T", "u": "AH", "v": "V", "w": "W", "x": "K S", "y": "IH", "z": "Z",
}

// finalSounds differ at the end of a word, longSounds before consonant and e.
var (
	finalSounds = map[string]string{"a": "AH", "e": "", "i": "IY", "o": "OW", "u": "UW", "y": "IY", "es": "Z", "ce": "S", "ge": "JH"}
	longSounds  = map[byte]string{'a': "EY", 'e': "IY", 'i': "AY", 'o': "OW", 'u': "UW"}
	letterNames = map[rune]string{
		'a': "EY", 'b': "B IY", 'c': "S IY", 'd': "D IY", 'e': "IY", 'f': "EH F", 'g': "JH IY", 'h': "EY CH", 'i': "AY", 'j': "JH EY", 'k': "K EY",
		'l': "EH L", 'm': "EH M", 'n': "EH N", 'o': "OW", 'p': "P IY", 'q': "K Y UW", 'r': "AA R", 's': "EH S", 't': "T IY", 'u': "Y UW",
		'v': "V IY", 'w': "D AH B AH L Y UW", 'x': "EH K S", 'y': "W AY", 'z': "Z IY",
	}
)

// guess gives the sounds of a word of the letters a to z and apostrophes. A word
// without a vowel is read letter by letter. It is never empty.
func guess(word string) []string {
	word = strings.ReplaceAll(word, "'", "")
	var sounds []string
	if !strings.ContainsAny(word, "aeiouy") {
		for _, r := range word {
			sounds = append(sounds, strings.Fields(letterNames[r])...)
		}
		return sounds
	}
	for i := 0; i < len(word); {
		n, sound := longest(word, i)
		sounds = append(sounds, strings.Fields(sound)...)
		i += n
		for i < len(word) && word[i] == word[i-1] && !strings.ContainsRune("aeiou", rune(word[i])) {
			i++ // a doubled consonant is one sound
		}
	}
	if len(sounds) == 0 {
		return []string{"EH"} // "e": no letter of a word is silent alone
	}
	return sounds
}

// longest finds the spelling at index i: its length and sound.
func longest(word string, i int) (n int, sound string) {
	if long, ok := longSounds[word[i]]; ok && i+3 == len(word) && word[i+2] == 'e' && !strings.ContainsRune("aeiouwxy", rune(word[i+1])) {
		return 1, long
	}
	for n := min(4, len(word)-i); n > 0; n-- {
		if s, ok := finalSounds[word[i:i+n]]; ok && i > 0 && i+n == len(word) {
			return n, s
		}
		if s, ok := letterSounds[word[i:i+n]]; ok {
			return n, s
		}
	}
	return 1, ""
}
