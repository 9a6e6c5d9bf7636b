package lines

import (
	"errors"
	"log/slog"
	"net/netip"

	"parley/api"
	"parley/api/phone"
	"parley/sip"
)

// Browsers connects the telephones that are made of a browser with a telephone; nil: there is none, and they find nothing.
func Browsers(telephone *sip.UserAgent, log *slog.Logger) *phone.Handler {
	return &phone.Handler{Log: log, Connect: func(far, at netip.AddrPort, secure bool) (phone.Line, error) {
		if telephone == nil {
			return nil, api.ErrNotFound
		}
		line, err := telephone.WebSocket(far, at, secure)
		switch {
		case errors.Is(err, sip.ErrNoBrowsers):
			return nil, api.ErrNotFound
		case errors.Is(err, sip.ErrDraining), errors.Is(err, sip.ErrClosed):
			return nil, api.ErrDraining
		case err != nil: // sip.ErrConnections
			return nil, api.ErrBusy
		}
		return line, nil
	}}
}
