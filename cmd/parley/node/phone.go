package node

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/ledger"
)

// retryAfter is when a carrier may try again what could not be taken now.
const retryAfter = 5 * time.Second

// telephone makes the SIP side.
func (n *Node) telephone() (*sip.UserAgent, error) {
	listen, err := netip.ParseAddrPort(anyHost(n.cfg.SIPAddr))
	if err != nil {
		return nil, err
	}
	ports, err := rtpport.New(rtpport.Config{Addr: listen.Addr(), First: uint16(n.cfg.RTPPorts.First), Last: uint16(n.cfg.RTPPorts.Last)})
	if err != nil {
		return nil, err
	}
	cfg := sip.Config{Listen: listen, PublicIP: n.cfg.PublicIP, Ports: ports, Allow: n.allowed,
		Trunks: n.cfg.Trunks, RejectUnknown: n.cfg.SIPUnknown == "reject", OnCall: n.incoming, Logger: n.log, RTPTimeout: n.cfg.MediaTimeout,
		Away: func() bool { return !n.manager.HasDatabase() }, SRTP: sdp.SRTPOffered} // trunks have their own
	if n.network != nil {
		cfg.Trunks = append(cfg.Trunks, n.networkTrunk())
	}
	if n.cfg.SIPTLSAddr != "" {
		if cfg.ListenTLS, err = netip.ParseAddrPort(anyHost(n.cfg.SIPTLSAddr)); err != nil {
			return nil, err
		}
		cfg.TLS = n.cert.TLS()
	}
	phone, err := sip.New(cfg)
	if err == nil && phone.TLSAddr().IsValid() {
		n.log.Info("listening", "for", "sip over TLS", "addr", phone.TLSAddr().String())
	}
	return phone, err
}

// ReloadCertificate reads the certificate of SIP over TLS again. The public listener
// was there before the node and has its own copy.
func (n *Node) ReloadCertificate(ctx context.Context) error {
	if n.cert == nil {
		return nil
	}
	return n.cert.Reload(ctx)
}

// anyHost fills in the address of ":5060".
func anyHost(addr string) string {
	if strings.HasPrefix(addr, ":") {
		return "0.0.0.0" + addr
	}
	return addr
}

// allowed says whether a source may call without a trunk: with the simulated
// carrier this machine, and what the operator lists.
func (n *Node) allowed(source netip.Addr) bool {
	source = source.Unmap()
	if source.IsLoopback() && n.cfg.Carrier == "simulated" {
		return true
	}
	for _, net := range n.cfg.SIPAllow {
		if net.Contains(source) {
			return true
		}
	}
	return false
}

// incoming conducts one call to one of our numbers.
func (n *Node) incoming(ctx context.Context, in *sip.Incoming) {
	answered, err := n.answer(ctx, in)
	if err != nil && !answered {
		code, retry := refusalCode(err)
		in.Reject(code, "", retry)
	}
	if err != nil {
		n.log.Info("a call was not taken", "call", in.CallID, "to", in.Called, "err", err)
	}
}

// errNoRoute says that nobody answers a number.
var errNoRoute = errors.New("the number has no agent")

// answer takes a call, or says why not. The caller has been told when answered.
func (n *Node) answer(ctx context.Context, in *sip.Incoming) (answered bool, err error) {
	route, err := ledger.New(n.db).RouteNumber(ctx, e164(in.Called))
	if err != nil {
		return false, err
	}
	if route.Agent == nil {
		return false, errNoRoute
	}
	stored, err := n.db.Agent(ctx, route.Account, *route.Agent)
	if err != nil {
		return false, err
	}
	if n.misrouted(in) {
		return false, errNoRoute
	}
	caller := callerOf(in)
	session, err := n.manager.Admit(ctx, session.Admission{Start: ledger.Start{Account: route.Account, Agent: stored.ID, AgentVersion: stored.Version, From: caller.Number, To: e164(in.Called), Verstat: caller.Verstat,
		Terms: billing.Terms{Kind: billing.Inbound, Country: route.Country}}})
	if err != nil {
		return false, err
	}
	defer session.End(*isolate.Internal) // where nothing else has ended it
	w := n.wire(session, in.Trace())
	defer w.keep()
	if err := in.Ring(); err != nil {
		session.End(endedBy(err))
		return true, err
	}
	p := planOf(stored, n.log)
	p.begin(agent.Call{Now: n.db.Now(), From: caller.Number, To: e164(in.Called), CallerName: caller.Display, Verified: caller.Verstat == numberPassed})
	return n.converse(ctx, in, session, p, w)
}

// callerOf is who calls, for everything that depends on it: the books, the agent's
// variables, customer data and the do-not-call list. What a trunk asserts counts before
// what the caller says; where nobody vouches for identities, no check of them counts.
func callerOf(in *sip.Incoming) sip.Identity {
	caller := in.From
	if !in.Trusted {
		caller.Verstat = ""
		return caller
	}
	if in.Asserted.Number != "" {
		caller.Number, caller.Verstat = in.Asserted.Number, in.Asserted.Verstat
	}
	if in.Asserted.Display != "" {
		caller.Display = in.Asserted.Display
	}
	return caller
}

// misrouted says whether a call came on a trunk that lists numbers, for a number that only
// another trunk lists: carriers of one customer must not reach the numbers of another.
func (n *Node) misrouted(in *sip.Incoming) bool {
	number := e164(in.Called)
	lists := func(t trunk.Config) bool { return slices.Contains(t.Numbers, number) }
	i := slices.IndexFunc(n.cfg.Trunks, func(t trunk.Config) bool { return t.Name == in.Trunk })
	return i >= 0 && len(n.cfg.Trunks[i].Numbers) > 0 && !lists(n.cfg.Trunks[i]) && slices.ContainsFunc(n.cfg.Trunks, lists)
}

// numberPassed is a carrier's word that a number is its caller's (ATIS-1000074).
const numberPassed = "TN-Validation-Passed"

// converse rings while the engines open and the first message is made, answers,
// and conducts the call.
func (n *Node) converse(ctx context.Context, in *sip.Incoming, session *session.Session, p plan, w *wireLog) (answered bool, err error) {
	ringing, stop := session.Until(ctx)
	defer stop()
	rung := time.NewTimer(p.settings.Ring())
	defer rung.Stop()
	record := n.record("telephone", session, p, "")
	end := func(e media.Ended) {
		session.End(e)
		record.ended(e)
	}
	cfg, deaf, err := n.config(p, media.Rate8k)
	if err != nil {
		end(media.Ended{Reason: media.Failed, Detail: "engine"})
		return false, err
	}
	if deaf {
		// It says its first message and hangs up: there is nobody to hear answers.
		cfg.Turn.Idle = 0
	}
	functions := n.functionsOf(ctx, session, p, e164(callerOf(in).Number), record.trace.Header())
	defer functions.Close()
	cfg.Functions = functions.Functions
	n.telephoneFunctions(&cfg, p, session, e164(in.Called))
	cfg.Observe = record.telephoneObserver(deaf, session)
	session.Bind(&cfg)
	cfg.Recorder, cfg.Journal = n.recorder(session, p), n.journal(session, p)
	call := pipeline.New(cfg)
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	if err := call.Prepare(life); err != nil {
		end(media.Ended{Reason: media.Failed, Detail: "engine"})
		return false, err
	}
	select {
	case <-rung.C:
		err = n.rehearsed(ringing, call)
	case <-ringing.Done():
		err = context.Cause(ringing)
	}
	var leg *sip.Leg
	if err == nil {
		leg, err = in.Answer(ringing)
	}
	if err != nil {
		if session.Why() != nil {
			in.Reject(480, "", 0)
		}
		call.Close()
		end(endedBy(err))
		return true, err
	}
	w.leg = leg
	session.BeginAt(leg.Answered())
	n.log.Info("call answered", "session", session.ID(), "call", in.CallID, "from", in.Source.Addr().String(), "to", in.Called)
	ended := session.Conduct(call, line{leg, n.consultation(session, p, e164(in.Called))})
	record.ended(ended)
	n.ended("telephone", session.ID(), ended)
	n.heard(session.ID(), leg.Stats())
	return true, nil
}

// rehearsalMax bounds the wait for the first message's audio beyond the ringing.
const rehearsalMax = 3 * time.Second

func (n *Node) rehearsed(ctx context.Context, call *pipeline.Call) error {
	t := time.NewTimer(rehearsalMax)
	defer t.Stop()
	select {
	case <-call.Rehearsed():
	case <-t.C: // the voice is slow: the call is answered all the same
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// telephoneObserver follows a telephone call. A deaf one ends after its first
// message.
func (r *record) telephoneObserver(deaf bool, session *session.Session) func(pipeline.Event) {
	return func(e pipeline.Event) {
		r.observe(e)
		if deaf && e.Kind == pipeline.Listening {
			session.Stop(media.Ended{Reason: media.Failed, Detail: "no_recogniser"})
		}
	}
}

// e164 is a called number as numbers are stored: with its plus.
func e164(called string) string {
	called = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -.()", r) {
			return -1
		}
		return r
	}, called)
	if !strings.HasPrefix(called, "+") {
		called = "+" + strings.TrimPrefix(called, "00")
	}
	return called
}

// refusalCode is what a caller is told of a refusal.
func refusalCode(err error) (code int, retry time.Duration) {
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errNoRoute), errors.Is(err, store.ErrInvalid): // no number at all
		return 404, 0
	case errors.Is(err, store.ErrConcurrency):
		return 486, 0
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrDisputed), errors.Is(err, store.ErrSuspended),
		errors.Is(err, store.ErrSpending), errors.Is(err, billing.ErrNoPrice):
		return 480, 0
	}
	return 503, retryAfter // draining, full, the database away, an engine that does not start
}

// endedBy turns the cause of a call that was never answered into its end.
func endedBy(err error) media.Ended {
	if e, ok := errors.AsType[*media.Ended](err); ok {
		return *e
	}
	detail := "answer"
	if r, ok := errors.AsType[*sip.Refused](err); ok && r.Code == 488 {
		detail = "no_common_codec"
	}
	return media.Ended{Reason: media.Failed, Detail: detail}
}
