package inbound

import (
	"parley/sip/header"
	"parley/store"
)

// attestationOf is how well the carrier where a call began knows the caller; empty where nobody says, or nobody vouches for
// who does.
func attestationOf(in *arrival) string {
	if !in.Trusted {
		return ""
	}
	return in.Headers.Attestation
}

// verified says whether a carrier vouches for a caller's number: it has checked it, and the carrier where the call began
// does not say that it only knows its customer (B), or nobody at all (C).
func verified(caller header.Identity, attestation string) bool {
	return (caller.Verstat == numberPassed || caller.Verstat == numberPassed+"-A") && (attestation == "" || attestation == "A")
}

// originOf is where a call was before, as its INVITE says; nil: it says nothing. Nobody vouches for it, but for the
// identifier of a carrier.
func originOf(in *arrival) *store.CallOrigin {
	h := &in.Headers
	o := &store.CallOrigin{DivertedBy: h.DivertedBy(in.Called), FirstCalled: h.FirstCalled(in.Called)}
	if in.Trusted {
		o.OrigID = h.OrigID
	}
	for _, d := range h.Diversions {
		o.Diversions = append(o.Diversions, store.CallDiversion{Number: d.By.Number, Name: d.By.Display, Reason: d.Reason})
	}
	for _, e := range h.History {
		o.History = append(o.History, store.CallStation{Index: e.Index, Number: e.To.Number, Name: e.To.Display, Cause: e.Cause})
	}
	if len(o.Diversions) == 0 && len(o.History) == 0 && o.OrigID == "" {
		return nil
	}
	return o
}
