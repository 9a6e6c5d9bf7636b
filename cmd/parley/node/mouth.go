package node

import "strings"

// alphabet is the reduced phonemes that clients animate.
var alphabet = []string{"a", "e", "i", "o", "u", "m", "p", "b", "f", "v", "t", "d", "s", "z", "l", "n", "r", "k", "g", "sil"}

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

// mouthShape is the index in alphabet of an IPA phoneme; of silence for what is
// none.
func mouthShape(ipa string) int {
	for _, r := range strings.TrimLeft(ipa, "ˈˌ") {
		if c, ok := nearest[r]; ok {
			for i, a := range alphabet {
				if a == c {
					return i
				}
			}
		}
	}
	return len(alphabet) - 1
}
