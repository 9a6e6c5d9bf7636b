package scripted

import (
	"fmt"
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
var kinds = kindsOf(map[string]string{
	kindNumber: "number people persons guests party size count quantity amount adults seats personas cantidad personnes persone personen pessoas",
	kindDay:    "day date weekday dia fecha jour giorno tag",
	kindTime:   "time hour hora heure ora uhrzeit",
	kindName:   "name nombre nome nom",
	kindDigits: "digits phone telephone order code id account reference telefono pedido zip",
})

func kindsOf(table map[string]string) map[string]string {
	all := map[string]string{}
	for kind, list := range table {
		for _, w := range strings.Fields(list) {
			all[w] = kind
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
	found, rest := map[string]string{}, slices.Clone(heard)
	for _, finder := range []struct {
		kind string
		find func(heard []string) (value string, from, to int)
	}{{kindDay, l.dayIn}, {kindTime, l.timeIn}, {kindDigits, l.digitsIn}, {kindNumber, l.numberIn}, {kindName, l.nameIn}} {
		value, from, to := finder.find(rest)
		if to == 0 {
			continue
		}
		found[finder.kind] = value
		for i := from; i < to; i++ {
			rest[i] = ""
		}
	}
	return found
}

// dayIn takes a letter or two that were heard badly.
func (l *language) dayIn(heard []string) (value string, from, to int) {
	for i, w := range heard {
		for _, day := range l.dayNames {
			if w != "" && w[0] == day[0] && distance(w, day) <= len(day)/4 && !l.stop[w] {
				return l.days[day], i, i + 1
			}
		}
	}
	return "", 0, 0
}

// numberAt reads a number that begins at i: digits, a word, or tens and a unit
// with or without "and" between them. to is i when there is none.
func (l *language) numberAt(heard []string, i int) (n, to int) {
	if i >= len(heard) {
		return 0, i
	}
	if v, err := strconv.Atoi(heard[i]); err == nil && v >= 0 && v < 10000 {
		return v, i + 1
	}
	n, known := l.numbers[heard[i]]
	if !known {
		return 0, i
	}
	next := i + 1
	if n < 20 || n%10 != 0 {
		return n, next
	}
	if next+1 < len(heard) && heard[next] == l.and {
		next++
	}
	if unit, end := l.numberAt(heard, next); end > next && unit > 0 && unit < 10 {
		return n + unit, end
	}
	return n, i + 1
}

func (l *language) isNumber(word string) bool {
	_, to := l.numberAt([]string{word}, 0)
	return to > 0
}

// numberIn prefers a number that stands beside a word for people.
func (l *language) numberIn(heard []string) (value string, from, to int) {
	for i := 0; i < len(heard); i++ {
		n, end := l.numberAt(heard, i)
		if end == i {
			continue
		}
		beside := i > 0 && length(heard[i-1:i], l.party) > 0 || length(heard[end:], l.people) > 0
		if to == 0 || beside {
			value, from, to = strconv.Itoa(n), i, end
		}
		if beside {
			break
		}
		i = end - 1
	}
	return value, from, to
}

// digitsIn finds digits that were read out one by one, or a number written with
// three or more of them.
func (l *language) digitsIn(heard []string) (value string, from, to int) {
	for i := range heard {
		digits, j := "", i
		for ; j < len(heard); j++ {
			if n, known := l.numbers[heard[j]]; known && n < 10 {
				digits += strconv.Itoa(n)
			} else if _, err := strconv.ParseUint(heard[j], 10, 64); err == nil {
				digits += heard[j]
			} else {
				break
			}
		}
		if len(digits) >= 3 {
			return digits, i, j
		}
	}
	return "", 0, 0
}

// nameIn takes the one or two words after "my name is".
func (l *language) nameIn(heard []string) (value string, from, to int) {
	for _, p := range l.nameLeads {
		at := sequence(heard, p)
		if at < 0 {
			continue
		}
		from = at + len(p)
		for to = from; to < len(heard) && to < from+2; to++ {
			w := heard[to]
			if len(w) < 2 || l.stop[w] || l.ideas[w] != "" || l.isNumber(w) || w[0] < 'a' {
				break
			}
		}
		if to > from {
			return titled(heard[from:to]), at, to
		}
	}
	return "", 0, 0
}

// timeIn finds a time of day.
func (l *language) timeIn(heard []string) (value string, from, to int) {
	for i := range heard {
		if n := length(heard[i:], l.noon); n > 0 {
			return "12:00", i, i + n
		}
		if minutes, end, ok := l.timeAt(heard, i); ok {
			return l.clockTime(minutes, heard[end:]), i, end
		}
	}
	return "", 0, 0
}

// clockTime writes minutes after midnight, in the afternoon where the rest says so.
func (l *language) clockTime(minutes int, rest []string) string {
	if minutes < 12*60 && slices.ContainsFunc(l.afternoon, func(p []string) bool { return sequence(rest, p) >= 0 }) {
		minutes += 12 * 60
	}
	return fmt.Sprintf("%d:%02d", minutes/60%24, minutes%60)
}

// timeAt reads a time that begins at i, in minutes after midnight. A bare number is none:
// it needs a word before (at) or after it (o'clock, half), or a clock's form.
func (l *language) timeAt(heard []string, i int) (minutes, end int, ok bool) {
	if h, m, found := strings.Cut(strings.NewReplacer("h", ":", ".", ":").Replace(heard[i]), ":"); found {
		hour, err1 := strconv.Atoi(h)
		minute, err2 := strconv.Atoi(m)
		if err1 == nil && err2 == nil && len(m) == 2 && hour < 24 && minute < 60 {
			return hour*60 + minute, i + 1, true
		}
	}
	at := i + length(heard[i:], l.at)
	offset, n := l.shift(heard[at:])
	at += n
	hour, end := l.numberAt(heard, at)
	if end == at || hour > 24 {
		return 0, 0, false
	}
	n = length(heard[end:], l.clock)
	sure := at > i || n > 0
	end += n
	if after, n := l.shift(heard[end:]); n > 0 {
		end, offset, sure = end+n, after, true
	}
	if m, next := l.numberAt(heard, end); offset == 0 && next > end && m >= 10 && m < 60 && hour > 0 {
		end, offset, sure = next, m, true // six thirty
	}
	sure = sure || length(heard[end:], l.afternoon) > 0 // seven in the evening
	if !sure || length(heard[end:], l.people) > 0 {
		return 0, 0, false
	}
	return (hour*60 + offset + 24*60) % (24 * 60), end, true
}

// shift reads a phrase such as "half past", by which an hour is moved, and its length.
func (l *language) shift(heard []string) (minutes, n int) {
	for _, s := range l.shifts {
		if leads(heard, s.phrase) {
			return s.minutes, len(s.phrase)
		}
	}
	return 0, 0
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
		for i := range heard {
			if n, end := l.numberAt(heard, i); end > i && n <= 24 {
				return l.clockTime(n*60, heard[end:])
			}
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

// match compares what was heard with a phrase. Slots match what is of their
// kind; a slot of kind text takes the words between its neighbours.
func (l *language) match(p phrase, heard []string, found map[string]string) (covered, used float64, taken map[string]string) {
	taken = map[string]string{}
	var plain []string
	rest := heard
	missing := 0.0
	for i, w := range p {
		name, isSlot := strings.CutPrefix(w, "{")
		if !isSlot {
			plain = append(plain, w)
			continue
		}
		value := found[kindOf(name)]
		if kindOf(name) == kindText {
			value, rest = l.between(p, i, heard, rest)
		}
		if value == "" {
			missing++
			continue
		}
		taken[name] = value
	}
	switch {
	case len(plain) > 0:
		covered, used = l.overlap(plain, rest)
	case len(taken) > 0:
		covered, used = 1-missing/float64(len(p)), 0.5
	}
	return covered, used, taken
}

// between is the text slot at place i of a phrase: what was heard after the word
// before it and before the word after it, four words at most. rest is heard
// without them.
func (l *language) between(p phrase, i int, heard, rest []string) (string, []string) {
	from, to := 0, len(heard)
	if i > 0 {
		from = len(heard)
		for j, h := range heard {
			if alike(p[i-1], h) >= 0.8 {
				from = j + 1
			}
		}
	}
	if i+1 < len(p) {
		for j := len(heard) - 1; j >= from; j-- {
			if alike(p[i+1], heard[j]) >= 0.8 {
				to = j
			}
		}
	}
	value := heard[min(from, to):to]
	for len(value) > 0 && l.stop[value[0]] {
		value = value[1:]
	}
	if len(value) == 0 || len(value) > 4 {
		return "", rest
	}
	rest = slices.DeleteFunc(slices.Clone(rest), func(w string) bool { return slices.Contains(value, w) })
	return titled(value), rest
}
