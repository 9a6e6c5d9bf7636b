package tts

import "strings"

// Viseme is one mouth shape.
type Viseme struct {
	V  int     `json:"v"`  // the character of the text that is being spoken, an index in code points
	C  string  `json:"c"`  // the reduced phoneme, one of Alphabet
	T  float64 `json:"t"`  // when, in seconds from the start of the audio
	ID int     `json:"id"` // the index of C in Alphabet
}

// Alphabet is the reduced phonemes that clients animate.
var Alphabet = [...]string{"a", "e", "i", "o", "u", "m", "p", "b", "f", "v", "t", "d", "s", "z", "l", "n", "r", "k", "g", "sil"}

// Silent is the index of silence in Alphabet.
const Silent = len(Alphabet) - 1

// nearest maps IPA symbols to the alphabet, by how the mouth looks.
var nearest = map[rune]string{
	'a': "a", 'ɑ': "a", 'æ': "a", 'ɐ': "a", 'ʌ': "a", 'ɒ': "o",
	'e': "e", 'ɛ': "e", 'ə': "e", 'ɜ': "e", 'ɘ': "e", 'œ': "o", 'ø': "o",
	'i': "i", 'ɪ': "i", 'y': "u", 'ʏ': "u", 'j': "i", 'ɨ': "i",
	'o': "o", 'ɔ': "o", 'u': "u", 'ʊ': "u", 'w': "u", 'ʉ': "u",
	'm': "m", 'p': "p", 'b': "b", 'β': "b", 'f': "f", 'v': "v",
	't': "t", 'd': "d", 'θ': "t", 'ð': "d", 'ɾ': "d", 's': "s", 'z': "z", 'ʃ': "s", 'ʒ': "z",
	'l': "l", 'ʎ': "l", 'ɫ': "l", 'n': "n", 'ɲ': "n", 'ŋ': "n", 'r': "r", 'ɹ': "r", 'ʁ': "r", 'ʀ': "r",
	'k': "k", 'c': "k", 'x': "k", 'ç': "k", 'h': "k", 'g': "g", 'ɡ': "g", 'ɣ': "g",
}

// Shape is the index in Alphabet of an IPA phoneme; Silent for what is none.
func Shape(ipa string) int {
	for _, r := range strings.TrimLeft(ipa, "ˈˌ") {
		if c, ok := nearest[r]; ok {
			return indexOf[c]
		}
	}
	return Silent
}

var indexOf = func() map[string]int {
	m := map[string]int{}
	for i, c := range Alphabet {
		m[c] = i
	}
	return m
}()
