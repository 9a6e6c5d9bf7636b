package replay

import (
	"fmt"

	"parley/pipeline/journal"
)

// maxDiff bounds the table of a comparison, in entries: logs that differ in more are
// shown one after the other.
const maxDiff = 16 << 20

// Difference is a line of a comparison.
type Difference struct {
	Then *journal.Event // nil: it did not happen
	Now  *journal.Event // nil: it does not happen
}

// Same says that nothing about the event differs.
func (d *Difference) Same() bool {
	return d.Then != nil && d.Now != nil && d.Then.String() == d.Now.String()
}

// String is the line: "-" for what happened then alone, "+" for now alone, "~" for what
// happens at another time.
func (d *Difference) String() string {
	switch {
	case d.Now == nil:
		return "- " + d.Then.String()
	case d.Then == nil:
		return "+ " + d.Now.String()
	case d.Same():
		return "  " + d.Now.String()
	}
	return fmt.Sprintf("~ %s  (was %.3f)", d.Now.String(), d.Then.At().Seconds())
}

// Compare lines up two logs by what happened, whenever it did.
func Compare(then, now []journal.Event) []Difference {
	var list []Difference
	from := 0
	for from < len(then) && from < len(now) && then[from].String() == now[from].String() {
		list = append(list, Difference{&then[from], &now[from]})
		from++
	}
	a, b := what(then[from:]), what(now[from:])
	i, j := 0, 0
	if len(a)*len(b) <= maxDiff {
		rest := longest(a, b)
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				list = append(list, Difference{&then[from+i], &now[from+j]})
				i, j = i+1, j+1
			case rest[i+1][j] >= rest[i][j+1]:
				list = append(list, Difference{Then: &then[from+i]})
				i++
			default:
				list = append(list, Difference{Now: &now[from+j]})
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		list = append(list, Difference{Then: &then[from+i]})
	}
	for ; j < len(b); j++ {
		list = append(list, Difference{Now: &now[from+j]})
	}
	return list
}

// what is the events without their times, and without what only they tell.
func what(events []journal.Event) []string {
	list := make([]string, len(events))
	for i := range events {
		e := events[i]
		if e.Timing != nil {
			e.Timing = &journal.Timing{}
		}
		list[i] = e.What()
	}
	return list
}

// longest is a table of the lengths of the longest common sequences of what is left of
// a and b.
func longest(a, b []string) [][]int32 {
	t := make([][]int32, len(a)+1)
	for i := range t {
		t[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
}
