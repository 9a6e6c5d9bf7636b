package scripted

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The kinds of values that can be recognised in what a caller says.
const (
	kindNumber = "number" // 0 to 9,999, as digits
	kindDay    = "day"    // a weekday, today or tomorrow, in the language's own word
	kindTime   = "time"   // h:mm in 24 hours where the caller was clear about it
	kindName   = "name"   // one or two words
	kindDigits = "digits" // three or more digits read out or written
	kindText   = "text"   // anything else, taken as it was said
)

// kinds maps words in a slot's name to the kind of its value.
var kinds = inverted(map[string]string{
	kindNumber: "number people persons guests party size count quantity amount adults seats personas cantidad personnes persone personen pessoas",
	kindDay:    "day date weekday dia fecha jour giorno tag",
	kindTime:   "time hour hora heure ora uhrzeit",
	kindName:   "name nombre nome nom",
	kindDigits: "digits phone telephone order code id account reference telefono pedido zip",
})

// inverted is a table of lists of words by word, folded.
func inverted(table map[string]string) map[string]string {
	all := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		for _, w := range tokens(table[key]) {
			all[w] = key
		}
	}
	return all
}

// slot is a value that a rule needs.
type slot struct {
	name, kind string
	options    []string // the only values allowed; nil: any
}

// slotOf is the slot of a property; the zero schema is that of any text.
func slotOf(name string, p schema) slot {
	s := slot{strings.ToLower(name), kindOf(name), p.Enum}
	if s.kind == kindText && (p.Type == "integer" || p.Type == "number") {
		s.kind = kindNumber
	}
	return s
}

// slots lists those of a rule, in order; {result} is not one.
func (d *dialogue) slots(r rule) []slot {
	var list []slot
	for _, m := range slotName.FindAllStringSubmatch(r.say+r.args+r.then, -1) {
		var p schema
		if t := d.tool(r.call); t != nil {
			p = t.property(m[1])
		}
		s := slotOf(m[1], p)
		if s.name != "result" && !slices.ContainsFunc(list, func(other slot) bool { return other.name == s.name }) {
			list = append(list, s)
		}
	}
	return list
}

// kindOf guesses what a slot holds from its name: party_size is a number, and
// order_number digits, since the first telling word counts.
func kindOf(name string) string {
	for _, w := range words(name) {
		if k := kinds[w]; k != "" {
			return k
		}
	}
	return kindText
}

// values finds what a caller said of each kind. Words that became a value are not taken
// for another one.
func (l *language) values(heard []string) map[string]string {
	found, text := map[string]string{}, l.figures(heard)
	for i, find := range []func(text string) (value string, at []int){l.timeIn, digitsIn, numberIn, l.nameIn} {
		if value, at := find(text); at != nil {
			found[[]string{kindTime, kindDigits, kindNumber, kindName}[i]] = value
			text = text[:at[0]] + " ; " + text[at[1]:]
		}
	}
	if day := l.dayIn(heard); day != "" {
		found[kindDay] = day
	}
	return found
}

// figures is what was heard as one text between spaces, with numbers in figures.
func (l *language) figures(heard []string) string {
	text := " "
	for i := 0; i < len(heard); i++ {
		w := heard[i]
		if n, known := l.numbers[w]; known {
			next := i + 1
			if next+1 < len(heard) && heard[next] == l.and {
				next++
			}
			if next < len(heard) && n >= 20 && n%10 == 0 {
				if unit := l.numbers[heard[next]]; unit > 0 && unit < 10 {
					n, i = n+unit, next // twenty (and) five
				}
			}
			w = strconv.Itoa(n)
		}
		text += w + " "
	}
	return text
}

func (l *language) isNumber(word string) bool {
	_, known := l.numbers[word]
	return known || word[0] >= '0' && word[0] <= '9'
}

// dayIn takes a letter or two that were heard badly.
func (l *language) dayIn(heard []string) string {
	for _, w := range heard {
		for _, day := range l.dayNames {
			if w[0] == day[0] && distance(w, day) <= len(day)/4 && !l.stop[w] {
				return l.days[day]
			}
		}
	}
	return ""
}

// digitRun is a run of digits that were read out one by one, or written.
var digitRun = regexp.MustCompile(` \d+(?: \d+)* `)

// digitsIn finds three digits or more.
func digitsIn(text string) (string, []int) {
	for _, at := range digitRun.FindAllStringIndex(text, -1) {
		if digits := strings.ReplaceAll(text[at[0]:at[1]], " ", ""); len(digits) >= 3 {
			return digits, at
		}
	}
	return "", nil
}

var bareNumber = regexp.MustCompile(` (\d{1,4}) `)

func numberIn(text string) (string, []int) {
	m := bareNumber.FindStringSubmatchIndex(text)
	if m == nil {
		return "", nil
	}
	n, _ := strconv.Atoi(text[m[2]:m[3]])
	return strconv.Itoa(n), m
}

// nameIn takes the one or two words after "my name is".
func (l *language) nameIn(text string) (string, []int) {
	m := l.name.FindStringSubmatchIndex(text)
	if m == nil {
		return "", nil
	}
	var list []string
	for _, w := range strings.Fields(text[m[2]:m[3]]) {
		if len(w) < 2 || l.stop[w] {
			break
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return "", nil
	}
	return titled(list), m
}

// timeIn finds a time of day. A bare number is none: it needs a word before it (at) or
// after it (o'clock, half, in the evening), or minutes.
func (l *language) timeIn(text string) (string, []int) {
	for from := 0; ; {
		m := l.time.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return "", nil
		}
		group := func(i int) string { return text[from+max(m[2*i], 0) : from+max(m[2*i+1], 0)] } // noon, at, before, hour, minutes, after, clock
		at, rest := []int{from + m[0], from + m[1]}, text[from+m[1]-1:]
		if group(1) != "" {
			return "12:00", at
		}
		if group(7) != "" {
			rest = text[from+m[14]-1:] // "pm" is both
		}
		hour, _ := strconv.Atoi(group(4))
		minute, _ := strconv.Atoi(group(5))
		later := l.afternoon.FindStringIndex(rest)
		sure := group(2)+group(3)+group(5)+group(6)+group(7) != "" || later != nil && later[0] == 0
		if sure && hour <= 24 && minute < 60 {
			return l.clockTime(hour*60+minute+l.shifts[group(3)]+l.shifts[group(6)], rest), at
		}
		from = at[0] + 1
	}
}

// clockTime writes minutes after midnight, in the afternoon where the rest says so.
func (l *language) clockTime(minutes int, rest string) string {
	if minutes = (minutes + 24*60) % (24 * 60); minutes < 12*60 && l.afternoon.MatchString(rest) {
		minutes += 12 * 60
	}
	return fmt.Sprintf("%d:%02d", minutes/60, minutes%60)
}

// fill reads the value of one slot from an answer to its question, where a bare
// number may be a time and a bare word a name.
func (l *language) fill(s slot, heard []string) string {
	if s.options != nil {
		return option(s.options, heard)
	}
	found := l.values(heard)
	if s.kind != kindText && found[s.kind] != "" {
		return found[s.kind]
	}
	switch {
	case s.kind == kindTime && l.full():
		text := l.figures(heard)
		value, at := numberIn(text)
		if hour, err := strconv.Atoi(value); err == nil && hour <= 24 {
			return l.clockTime(hour*60, text[at[1]-1:])
		}
	case s.kind == kindDigits:
		return found[kindNumber]
	case s.kind == kindName, s.kind == kindText, !l.full(): // where no table reads it, it is what was said
		rest := slices.DeleteFunc(slices.Clone(heard), func(w string) bool { return l.stop[w] || len(w) < 2 })
		if len(rest) > 0 && len(rest) <= 4 {
			return titled(rest)
		}
	}
	return ""
}

// option is the allowed value that was heard.
func option(options []string, heard []string) string {
	for _, o := range options {
		for _, w := range words(o) {
			if slices.ContainsFunc(heard, func(h string) bool { return alike(w, h) >= 0.8 }) {
				return o
			}
		}
	}
	return ""
}
