package espeak

import (
	"strings"
	"unicode"
)

// spelling is a text as the synthesiser is given it, with the way back: at[i] is
// the index in the original of the i-th code point.
type spelling struct {
	text []rune
	at   []int
}

func (s *spelling) put(at int, letters string) {
	for _, r := range letters {
		s.text = append(s.text, r)
		s.at = append(s.at, at)
	}
}

// original is the index in the original text of index i of the spelling.
func (s *spelling) original(i int) int {
	if len(s.at) == 0 {
		return 0
	}
	return s.at[max(0, min(i, len(s.at)-1))]
}

// asWritten leaves the letters alone.
func asWritten(text []rune) spelling {
	s := spelling{make([]rune, 0, len(text)), make([]int, 0, len(text))}
	for i, r := range text {
		s.text, s.at = append(s.text, written(r)), append(s.at, i)
	}
	return s
}

// galician spells Galician so that a Spanish reader says nearly the right sounds:
//
//	x before a vowel      the sound of English "sh"; before a consonant "s"
//	nh                    the "ng" of "sing", here with a g after it
//	ll, ñ, ch, z, c       as in Spanish
//	â ê ô, à è ò          plain stressed vowels; the open and closed e and o,
//	                      two vowels each in Galician, fall together
//
// The Spanish rules read "sh" as that sound at the start of a word only, and
// "shh" elsewhere.
func galician(text []rune) spelling {
	var s spelling
	for i, r := range text {
		lower := unicode.ToLower(r)
		inside := i > 0 && unicode.IsLetter(text[i-1])
		var next rune
		if i+1 < len(text) {
			next = unicode.ToLower(text[i+1])
		}
		switch {
		case lower == 'x' && !unicode.IsLetter(next):
			s.put(i, "x") // tórax
		case lower == 'x' && !isVowel(next):
			s.put(i, "s")
		case lower == 'x' && inside:
			s.put(i, "shh")
		case lower == 'x':
			s.put(i, "sh")
		case lower == 'h' && inside && unicode.ToLower(text[i-1]) == 'n' && isVowel(next):
			s.put(i, "g")
		default:
			s.put(i, plainVowels.Replace(string(written(r))))
		}
	}
	return s
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiouáéíóúâêôàèòïü", r) }

// plainVowels are the accented vowels that Spanish has for Galician ones.
var plainVowels = strings.NewReplacer("â", "á", "ê", "é", "ô", "ó", "à", "á", "è", "é", "ò", "ó",
	"Â", "Á", "Ê", "É", "Ô", "Ó", "À", "Á", "È", "É", "Ò", "Ó")

// written is a letter as it is written. Control characters become spaces: the synthesiser
// would take some of them for commands and NUL for the end.
func written(r rune) rune {
	if unicode.IsControl(r) && r != '\n' {
		return ' '
	}
	return r
}

const (
	// segmentChars bounds what one request to a worker speaks, in code points.
	// A longer text is cut, so that it neither holds a worker for long nor fills
	// memory with speech that nobody has heard yet.
	segmentChars = 400
	// segmentTail is where in a segment the end of a sentence is looked for.
	segmentTail = 300
)

// segments cuts text at the end of a sentence, else at a space, else anywhere.
// Each segment is a range of indices.
func segments(text []rune) [][2]int {
	var cuts [][2]int
	for from := 0; from < len(text); {
		to := len(text)
		if to-from > segmentChars {
			to = cut(text, from)
		}
		cuts = append(cuts, [2]int{from, to})
		from = to
	}
	return cuts
}

func cut(text []rune, from int) int {
	space := from + segmentChars
	for i := from + segmentChars; i > from+1; i-- {
		if !unicode.IsSpace(text[i-1]) {
			continue
		}
		if i > from+segmentChars-segmentTail && strings.ContainsRune(".!?…;:\n", text[i-2]) {
			return i
		}
		if space == from+segmentChars {
			space = i
		}
	}
	return space
}
