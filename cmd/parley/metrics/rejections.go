package metrics

import (
	"net/http"
	"time"

	"parley/api"
	"parley/sip"
	"parley/sip/transport"
)

// Rejections is a page for operators, at the metrics address: what the telephone refused at the
// edge. Without a telephone there is none.
func Rejections(phone *sip.UserAgent) http.Handler {
	mux := http.NewServeMux()
	if phone != nil {
		mux.HandleFunc("GET /debug/sip/rejections", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			api.WriteJSON(w, http.StatusOK, viewRejections(phone.Rejections(), phone.Rejected()))
		})
	}
	return mux
}

// rejectionsView is what was refused at the edge, for people who ask why calls do not
// arrive.
type rejectionsView struct {
	Total map[transport.Cause]uint64 `json:"total"` // since the start
	Data  []rejectionView            `json:"data"`  // the latest first; at most 256
}

// rejectionView is what came from one source and was refused for one cause.
type rejectionView struct {
	Source string          `json:"source"`
	Cause  transport.Cause `json:"cause"`
	Count  uint64          `json:"count"`
	First  time.Time       `json:"first"`
	Last   time.Time       `json:"last"`
	Trunk  string          `json:"trunk,omitempty"`
	Called string          `json:"called,omitempty"` // by the last one
	Code   int             `json:"code"`             // what the last one was answered; 0: nothing
}

func viewRejections(list []transport.Rejection, total map[transport.Cause]uint64) rejectionsView {
	v := rejectionsView{Total: total, Data: make([]rejectionView, len(list))}
	for i, r := range list {
		v.Data[i] = rejectionView{Source: r.Source.Unmap().String(), Cause: r.Cause, Count: r.Count, First: r.First.UTC(), Last: r.Last.UTC(),
			Trunk: r.Trunk, Called: r.Called, Code: r.Code}
	}
	return v
}
