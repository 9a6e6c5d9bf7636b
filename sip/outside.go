package sip

import (
	"cmp"

	gosip "github.com/emiago/sipgo/sip"
)

// outside builds a request outside of any call for one of the trunk's targets,
// and the dialog that can build it again.
func (l *line) outside(method gosip.RequestMethod, e endpoint) (*gosip.Request, *dialog) {
	u := l.ua
	d := &dialog{
		callID: newTag(), localTag: newTag(), target: e.target.uri(""),
		transport: e.transport, peer: e.addr, self: u.facing(e.addr.Addr()), port: u.portOf(e.transport),
		auth: newAuthorizer(l.trunk.Auth), line: l,
	}
	d.local = gosip.Uri{Scheme: "sip", User: l.contactUser(), Host: bracketed(cmp.Or(l.trunk.FromHost, e.target.Host))}
	d.remote = gosip.Uri{Scheme: "sip", Host: bracketed(e.target.Host)}
	if method == gosip.REGISTER {
		d.remote = d.local
	}
	req := d.request(method, 0)
	u.aim(req, d, e)
	return req, d
}

// aim sends a request to an endpoint.
func (u *UserAgent) aim(req *gosip.Request, d *dialog, e endpoint) {
	u.address(d, req)
	req.SetDestination(e.addr.String())
}
