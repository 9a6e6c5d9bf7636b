package api

import (
	"context"
	"net/http"
)

// Peers are the other servers of a cluster.
type Peers interface {
	// Forward sends a request on to the life of a server with an epoch, and answers it. false: that is this one, it does not live, or the
	// request was sent on already; nothing was answered then.
	Forward(w http.ResponseWriter, r *http.Request, epoch int64) bool
}

// Vouched is a request whose sender another server of the cluster has found out.
func Vouched(r *http.Request, by Principal) *http.Request {
	return r.WithContext(context.WithValue(context.WithValue(r.Context(), insideKey{}, by), vouchedKey{}, true))
}

type vouchedKey struct{}

// IsVouched says that the request of ctx came from another server of the cluster.
func IsVouched(ctx context.Context) bool { return ctx.Value(vouchedKey{}) != nil }

// Anonymous takes from a request what says who sent it, and the words of a browser.
func Anonymous(r *http.Request) {
	for _, name := range []string{"Authorization", "X-API-Key", "Cookie", "Origin", "Sec-Fetch-Site", "Forwarded", "X-Forwarded-For"} {
		r.Header.Del(name)
	}
	if q := r.URL.Query(); q.Has("api_key") {
		q.Del("api_key")
		r.URL.RawQuery = q.Encode()
	}
}
