package pocketsphinx

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPhraseWords bounds what a language model is built from: what follows in an
// endless prompt is left out. It keeps a model below 3 MB.
const maxPhraseWords = 20000

// plainLetters writes the common accented letters the way the dictionary does.
var plainLetters = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ä", "a", "ã", "a", "å", "a", "é", "e", "è", "e", "ê", "e", "ë", "e",
	"í", "i", "ì", "i", "î", "i", "ï", "i", "ó", "o", "ò", "o", "ô", "o", "ö", "o", "õ", "o", "ú", "u", "ù", "u", "û", "u", "ü", "u",
	"ñ", "n", "ç", "c", "ß", "ss", "’", "'", "a.m.", "a m ", "p.m.", "p m ", "&", " and ", "%", " percent ", "@", " at ")

// sentences writes text as a caller would say it: lower-case words, numbers in
// words, one list for each sentence.
func sentences(text string) [][]string {
	runes := []rune(plainLetters.Replace(strings.ToLower(text)))
	var all [][]string
	var words []string
	finish := func() {
		if len(words) > 0 {
			all, words = append(all, words), nil
		}
	}
	currency := ""
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case r >= 'a' && r <= 'z':
			j := i
			for j < len(runes) && (runes[j] >= 'a' && runes[j] <= 'z' || runes[j] == '\'') {
				j++
			}
			words = append(words, spoken(string(runes[i:j]), words)...)
			i = j
			continue
		case r >= '0' && r <= '9':
			j := i
			for j < len(runes) && (isDigit(runes[j]) || j+1 < len(runes) && strings.ContainsRune(":.,", runes[j]) && isDigit(runes[j+1])) {
				j++
			}
			words = append(words, number(string(runes[i:j]))...)
			if currency != "" {
				words, currency = append(words, currency), ""
			}
			i = j
			continue
		case r == '$' || r == '€' || r == '£':
			currency = map[rune]string{'$': "dollars", '€': "euros", '£': "pounds"}[r]
			if before := strings.TrimRight(string(runes[max(0, i-4):i]), " \u00a0"); before != "" && isDigit(rune(before[len(before)-1])) {
				words, currency = append(words, currency), "" // written after its number
			}
		case strings.ContainsRune(".!?;:\n{}()[]\"|", r):
			finish()
		case !unicode.IsSpace(r) && unicode.IsLetter(r): // letters that English has no sounds for
			finish()
		}
		i++
	}
	finish()
	return all
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// spoken is a written word as it is said; before are the words it follows.
func spoken(word string, before []string) []string {
	word = strings.Trim(word, "'")
	afterNumber := len(before) > 0 && numberWords[before[len(before)-1]]
	switch {
	case word == "":
		return nil
	case word == "am" && afterNumber, word == "pm":
		return []string{word[:1], "m"}
	case afterNumber && (word == "st" || word == "nd" || word == "rd" || word == "th"):
		before[len(before)-1] = ordinal(before[len(before)-1])
		return nil
	}
	return []string{word}
}

var (
	units = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens  = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
	// numberWords are the words that a number may end in.
	numberWords = func() map[string]bool {
		m := map[string]bool{"hundred": true, "thousand": true}
		for _, w := range append(append([]string{}, units...), tens...) {
			m[w] = true
		}
		return m
	}()
	irregular = map[string]string{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}
)

func ordinal(word string) string {
	if o, ok := irregular[word]; ok {
		return o
	}
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return stem + "ieth"
	}
	return word + "th"
}

// number says digits: a time, a decimal, a count, or a string of digits where it
// is too long for a count or begins with zero.
func number(s string) []string {
	if hour, minute, ok := strings.Cut(s, ":"); ok {
		return clock(hour, minute)
	}
	s = strings.ReplaceAll(s, ",", "")
	if whole, part, ok := strings.Cut(s, "."); ok {
		return append(append(number(whole), "point"), oneByOne(part)...)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > 9999 || len(s) > 1 && s[0] == '0' {
		return oneByOne(s)
	}
	if n >= 1100 && n < 2100 && n/100 != 20 || n >= 2010 && n < 2100 { // a year
		return append(count(n/100), hundredths(n%100)...)
	}
	return count(n)
}

func hundredths(n int) []string {
	switch {
	case n == 0:
		return []string{"hundred"}
	case n < 10:
		return []string{"oh", units[n]}
	}
	return count(n)
}

func clock(hour, minute string) []string {
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	if err != nil || err2 != nil || h > 24 || m > 59 {
		return append(oneByOne(hour), oneByOne(minute)...)
	}
	if h > 12 {
		h -= 12
	}
	words := count(h)
	switch {
	case m == 0:
		return words
	case m < 10:
		return append(words, "oh", units[m])
	}
	return append(words, count(m)...)
}

// count says 0 to 9999.
func count(n int) []string {
	var words []string
	if n >= 1000 {
		words = append(words, units[n/1000], "thousand")
	}
	if n%1000 >= 100 {
		words = append(words, units[n%1000/100], "hundred")
	}
	switch rest := n % 100; {
	case rest == 0 && n > 0:
	case rest < 20:
		words = append(words, units[rest])
	case rest%10 == 0:
		words = append(words, tens[rest/10])
	default:
		words = append(words, tens[rest/10], units[rest%10])
	}
	return words
}

func oneByOne(digits string) []string {
	var words []string
	for _, d := range digits {
		if isDigit(d) {
			words = append(words, units[d-'0'])
		}
	}
	return words
}
