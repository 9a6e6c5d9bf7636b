package amd

// Answer is the answer of an outbound call, as its detector hears it, and what is known of it.
type Answer struct {
	Who     *Detector // nil: there is no detection
	verdict Verdict
}

// Decides notes a verdict and says whether it is another one.
func (a *Answer) Decides(v Verdict) (news bool) {
	news = v != a.verdict
	a.verdict = v
	return news
}
