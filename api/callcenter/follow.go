package callcenter

import (
	"net/http"

	"parley/api"
	"parley/api/socket"
	"parley/store"
)

// MountFollow adds the routes of calls of every direction, which are there without
// telephony, too: to follow one as it goes, and to end it. open is as for MountCalls.
func MountFollow(a *api.API, db *store.DB, c Calls, open *socket.Limits) {
	s := &calls{Calls: c, db: db, open: open}
	a.Handle(eventsRoute(), http.HandlerFunc(s.events))
	api.Register(a, api.Managed("Calls").Post("/v1/calls/{id}/hangup", "hang-up-any-call", "Hang up any call",
		"Ends a call of any direction at once, as `api_hangup`. One that has ended already answers the same.", http.StatusNotFound), s.hangup)
}
