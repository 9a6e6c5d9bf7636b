package dashboard

import (
	"strings"

	"parley/api/callcenter"
	"parley/billing"
)

// checkedRow is a line with what would become of it.
type checkedRow struct {
	callcenter.RowCheck
	Line int // of the file
}

// Why is what is wrong with it, for whoever sent the file.
func (r checkedRow) Why() string {
	if r.To == "" {
		return "There is no number in this line."
	}
	detail := r.Error.Detail
	if detail == "" {
		return r.Error.Message
	}
	if what, ok := strings.CutPrefix(detail, "scheduled_at: "); ok {
		return sentence("the time is not understood: it must be " + what)
	}
	return sentence(strings.TrimPrefix(detail, "to: "))
}

// called says whether a row would be called when those are left out that are wrong or
// repeat an earlier number.
func (v *bulkView) called(i int) bool {
	r := v.Check.Rows[i]
	return r.OK && r.DuplicateOf == nil
}

// Called is how many these are, and Out how many would be left out.
func (v *bulkView) Called() (n int) {
	for i := range v.Check.Rows {
		if v.called(i) {
			n++
		}
	}
	return n
}

// Out is how many lines would be left out.
func (v *bulkView) Out() int { return len(v.Check.Rows) - v.Called() }

// Repeated is how many lines are right but for an earlier one with their number.
func (v *bulkView) Repeated() int { return v.Out() - v.Check.Wrong }

// Whole is the sum of a minute with everybody who would be called.
func (v *bulkView) Whole() (sum billing.Money) {
	for i, r := range v.Check.Rows {
		if v.called(i) && r.PerMinute != nil {
			sum += billing.Money(*r.PerMinute)
		}
	}
	return sum
}
