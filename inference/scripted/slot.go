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
var kinds = map[string]string{
	"number": kindNumber, "people": kindNumber, "persons": kindNumber, "guests": kindNumber, "party": kindNumber, "size": kindNumber,
	"count": kindNumber, "quantity": kindNumber, "amount": kindNumber, "adults": kindNumber, "seats": kindNumber,
	"personas": kindNumber, "cantidad": kindNumber, "personnes": kindNumber, "persone": kindNumber, "personen": kindNumber, "pessoas": kindNumber,
	"day": kindDay, "date": kindDay, "weekday": kindDay, "dia": kindDay, "fecha": kindDay, "jour": kindDay, "giorno": kindDay, "tag": kindDay,
	"time": kindTime, "hour": kindTime, "hora": kindTime, "heure": kindTime, "ora": kindTime, "uhrzeit": kindTime,
	"name": kindName, "nombre": kindName, "nome": kindName, "nom": kindName,
	"digits": kindDigits, "phone": kindDigits, "telephone": kindDigits, "order": kindDigits, "code": kindDigits, "id": kindDigits,
	"account": kindDigits, "reference": kindDigits, "telefono": kindDigits, "pedido": kindDigits, "zip": kindDigits,
}

// kindOf guesses what a slot holds from its name: party_size is a number, and
// order_number digits, since the first telling word counts.
func kindOf(slot string) string {
	for _, w := range words(slot) {
		if k := kinds[w]; k != "" {
			return k
		}
	}
	return kindText
}

// words cuts an identifier like party_size, partySize or party-size.
func words(identifier string) []string {
	var b strings.Builder
	for i, r := range identifier {
		if r >= 'A' && r <= 'Z' && i > 0 && identifier[i-1] >= 'a' && identifier[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return tokens(b.String())
}

// values finds what a caller said of each kind. Words that became a value are
// listed in used, so that they are not taken for something else.
func (l *language) values(heard []string) (found map[string]string, used []bool) {
	found, used = map[string]string{}, make([]bool, len(heard))
	take := func(kind, value string, from, to int) {
		if found[kind] == "" {
			found[kind] = value
			for i := from; i < to; i++ {
				used[i] = true
			}
		}
	}
	if value, from, to := l.dayIn(heard); to > 0 {
		take(kindDay, value, from, to)
	}
	if value, from, to := l.timeIn(heard); to > 0 {
		take(kindTime, value, from, to)
	}
	if value, from, to := digitsIn(l, heard, used); to > 0 {
		take(kindDigits, value, from, to)
	}
	if value, from, to := l.numberIn(heard, used); to > 0 {
		take(kindNumber, value, from, to)
	}
	if value, from, to := l.nameIn(heard, used); to > 0 {
		take(kindName, value, from, to)
	}
	return found, used
}

func (l *language) dayIn(heard []string) (value string, from, to int) {
	for i, w := range heard {
		if d := l.day[w]; d != "" {
			return d, i, i + 1
		}
	}
	for i, w := range heard { // now those that were heard badly
		for _, d := range strings.Fields(l.days) {
			day := fold(d)
			length := max(len(w), len(day))
			if len(w) >= 6 && !l.stop[w] && w[0] == day[0] && distance(w, day) <= length/4 {
				return l.day[day], i, i + 1
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
	n, known := l.number[heard[i]]
	if !known {
		return 0, i
	}
	to = i + 1
	if l.code == "fr" && n == 10 && to < len(heard) && l.number[heard[to]] >= 7 && l.number[heard[to]] <= 9 {
		return 10 + l.number[heard[to]], to + 1 // dix-sept to dix-neuf
	}
	if l.code == "fr" && n == 4 && to < len(heard) && strings.TrimSuffix(heard[to], "s") == "vingt" {
		n, to = 80, to+1
	}
	if n < 20 || n%10 != 0 {
		return n, to
	}
	next := to
	if next+1 < len(heard) && heard[next] == fold(l.digits) {
		next++
	}
	limit := 10
	if l.code == "fr" && (n == 60 || n == 80) { // soixante-dix, quatre-vingt-douze
		limit = 20
	}
	if unit, end := l.numberAt(heard, next); end > next && unit > 0 && unit < limit {
		return n + unit, end
	}
	return n, to
}

// numberIn prefers a number that stands beside a word for people.
func (l *language) numberIn(heard []string, used []bool) (value string, from, to int) {
	best := -1
	for i := range heard {
		if used[i] {
			continue
		}
		n, end := l.numberAt(heard, i)
		if end == i || i > 0 && !used[i-1] && best >= 0 && l.isNumber(heard[i-1]) {
			continue
		}
		beside := i > 0 && lead(heard[i-1:i], l.partyRuns) > 0 || lead(heard[end:], l.peopleRuns) > 0
		if best < 0 || beside {
			best, value, from, to = i, strconv.Itoa(n), i, end
		}
		if beside {
			break
		}
	}
	return value, from, to
}

func (l *language) isNumber(word string) bool {
	_, to := l.numberAt([]string{word}, 0)
	return to > 0
}

// digitsIn finds digits that were read out one by one, or a number written with
// three or more of them.
func digitsIn(l *language, heard []string, used []bool) (value string, from, to int) {
	for i := 0; i < len(heard); i++ {
		var b strings.Builder
		j := i
		for ; j < len(heard) && !used[j]; j++ {
			if n, known := l.number[heard[j]]; known && n < 10 {
				b.WriteString(strconv.Itoa(n))
			} else if _, err := strconv.ParseUint(heard[j], 10, 64); err == nil {
				b.WriteString(heard[j])
			} else {
				break
			}
		}
		if b.Len() >= 3 {
			return b.String(), i, j
		}
		i = max(i, j-1)
	}
	return "", 0, 0
}

// nameIn takes the one or two words after "my name is".
func (l *language) nameIn(heard []string, used []bool) (value string, from, to int) {
	for _, run := range l.nameRuns {
		at := sequence(heard, run)
		if at < 0 {
			continue
		}
		from = at + len(run)
		for to = from; to < len(heard) && to < from+2; to++ {
			w := heard[to]
			if used[to] || l.stop[w] || l.ideaOf(w) != "" || l.isNumber(w) || len(w) < 2 || w[0] < 'a' {
				break
			}
		}
		if to > from {
			return titled(heard[from:to]), at, to
		}
	}
	return "", 0, 0
}

func titled(list []string) string {
	var all []string
	for _, w := range list {
		all = append(all, capital(w))
	}
	return strings.Join(all, " ")
}

// timeIn finds a time of day.
func (l *language) timeIn(heard []string) (value string, from, to int) {
	for _, run := range l.noonRuns {
		if at := sequence(heard, run); at >= 0 {
			return "12:00", at, at + len(run)
		}
	}
	for i := range heard {
		if hour, minute, end, ok := l.timeAt(heard, i); ok {
			if hour < 12 && l.isAfternoon(heard[end:]) {
				hour += 12
			}
			return fmt.Sprintf("%d:%02d", hour, minute), i, end
		}
	}
	return "", 0, 0
}

func (l *language) isAfternoon(rest []string) bool {
	return slices.ContainsFunc(l.afternoonRuns, func(r run) bool { return sequence(rest, r) >= 0 })
}

// timeAt reads a time that begins at i. A bare number is none: it needs a word
// before (at) or after it (o'clock, half), or a clock's form.
func (l *language) timeAt(heard []string, i int) (hour, minute, end int, ok bool) {
	if h, m, found := strings.Cut(strings.NewReplacer("h", ":", ".", ":").Replace(heard[i]), ":"); found {
		hour, err1 := strconv.Atoi(h)
		minute, err2 := strconv.Atoi(m)
		if err1 == nil && err2 == nil && len(m) == 2 && hour < 24 && minute < 60 {
			return hour, minute, i + 1, true
		}
	}
	at, offset := i+lead(heard[i:], l.atRuns), 0
	for _, s := range l.beforeHour {
		if n := lead(heard[at:], []run{s.run}); n > 0 {
			at, offset = at+n, s.minutes
			break
		}
	}
	sure := at > i
	hour, end = l.numberAt(heard, at)
	if end == at || hour > 24 {
		return 0, 0, 0, false
	}
	if n := lead(heard[end:], l.clockRuns); n > 0 {
		end, sure = end+n, true
	}
	for _, s := range l.afterHour {
		if n := lead(heard[end:], []run{s.run}); n > 0 {
			end, offset, sure = end+n, s.minutes, true
			break
		}
	}
	if m, next := l.numberAt(heard, end); offset == 0 && next > end && m >= 10 && m < 60 && hour > 0 {
		minute, end, sure = m, next, true // six thirty
	}
	sure = sure || lead(heard[end:], l.afternoonRuns) > 0 // seven in the evening
	if !sure || lead(heard[end:], l.peopleRuns) > 0 {
		return 0, 0, 0, false
	}
	total := (hour*60 + minute + offset + 24*60) % (24 * 60)
	return total / 60, total % 60, end, true
}

// lead is how many tokens of the longest of some phrases stand at the front.
func lead(heard []string, list []run) int {
	longest := 0
	for _, r := range list {
		if len(r) > longest && len(r) <= len(heard) && slices.Equal(heard[:len(r)], r) {
			longest = len(r)
		}
	}
	return longest
}

// fill reads the value of one slot from an answer to its question, where a bare
// number may be a time and a bare word a name.
func (l *language) fill(kind string, heard []string) string {
	found, _ := l.values(heard)
	if kind != kindText && found[kind] != "" {
		return found[kind]
	}
	switch kind {
	case kindTime:
		for i := range heard {
			if n, end := l.numberAt(heard, i); end > i && n <= 24 {
				hour := n
				if hour < 12 && l.isAfternoon(heard[end:]) {
					hour += 12
				}
				return fmt.Sprintf("%d:00", hour%24)
			}
		}
	case kindDigits:
		if found[kindNumber] != "" {
			return found[kindNumber]
		}
	case kindName, kindText:
		var rest []string
		for _, w := range heard {
			if !l.stop[w] && len(w) > 1 {
				rest = append(rest, w)
			}
		}
		if len(rest) > 0 && len(rest) <= 4 {
			return titled(rest)
		}
	}
	return ""
}
