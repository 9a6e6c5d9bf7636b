package node

import (
	"context"

	"parley/api/cases"
	"parley/cmd/parley/lines"
	"parley/cmd/parley/trial"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/calls"
	"parley/api/dashboard"
	"parley/api/denoise"
	"parley/api/docs"
	"parley/api/export"
	"parley/api/knowledge"
	"parley/api/listenin"
	"parley/api/manage"
	"parley/api/mcp"
	"parley/api/mediastream"
	"parley/api/messages"
	"parley/api/operator"
	"parley/api/phone"
	"parley/api/recording"
	"parley/api/requests"
	"parley/api/sounds"
	"parley/api/status"
	"parley/api/stt"
	"parley/api/task"
	"parley/api/ticket"
	"parley/api/trunks"
	"parley/api/tts"
	"parley/api/wallet"
	"parley/api/webhook"
	"parley/api/webrtc"
	"parley/api/wire"
	"parley/api/wsagent"
	"parley/api/wstts"
	"parley/cmd/parley/cluster"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/doctor"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/money"
	"parley/cmd/parley/outbound"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
	kept "parley/store/requests"
	linestore "parley/store/trunks"
)

// routes lists everything the public HTTP side serves.
func (n *Node) routes() *api.API {
	server := n.status()
	pages := n.pages(server)
	work := money.Work{Calls: n.manager, Ledger: ledger.New(n.db), Card: n.db.RateCard, Engines: n.engines.Serving}
	a := api.New(credentials{n, pages})
	a.Remember(n.db)
	api.MountPricing(a, n.db.RateCard)
	ticket.Mount(a, n.tickets, n.db, n.checkVariables)
	files := export.New(n.db)
	manage.Mount(a, n.db, files, conversation.Definition(n.engines, n.guard))
	manage.MountAccount(a, n.db, n.db.RateCard, n.cfg.RateLimit)
	tests := trial.Options(n.db, n.jobs, conversation.Definition(n.engines, n.guard))
	cases.Mount(a, tests)
	cases.MountComparisons(a, cases.Comparing{Agents: n.db, Calls: history.New(n.db), Draft: tests.Draft, Stored: tests.Stored, Compare: trial.Compare,
		Ask: trial.Asking{Sessions: func() *session.Manager { return n.manager }, Model: n.engines.Model, Log: n.log}.Ask})
	manage.MountFunctions(a, conversation.Tester(n.tools, n.guard))
	manage.MountSecrets(a, n.secrets)
	manage.MountEngineKeys(a, n.keys, n.engines)
	manage.MountPeople(a, people.New(n.db), func(token string) string { return n.payments.Home + dashboard.InvitationLink(token) })
	operator.Mount(a, n.db, n.db.RateCard, n.cluster.Freeze)
	operator.MountChecks(a, doctor.NewCheckup(n.cfg, func() string { return n.DataDir }).Look)
	webhook.Mount(a, n.db, n.hooks, n.poster.Check)
	wallet.Mount(a, n.db, files, n.db.RateCard)
	calls.Mount(a, n.db, files)
	messages.Mount(a, &n.texts)
	knowledge.Mount(a, n.library, n.poster.Check)
	sounds.Mount(a, n.db)
	recording.Mount(a, n.records)
	requests.Mount(a, kept.New(n.db))
	if n.cfg.Payments != "none" {
		n.payments.Mount(a, n.desk())
	}
	denoise.Mount(a, work)
	speech := tts.New(n.engines.TTS)
	tts.Mount(a, speech, n.engines.Voice, work, n.log)
	task.Mount(a, n.tasks)
	wstts.Mount(a, &wstts.Handler{Speech: speech, Books: work, Sockets: n.sockets, Admit: work.MayBegin, Log: n.log})
	stt.Mount(a, stt.Options{ASR: n.engines.ASR, VAD: n.engines.VAD, Books: work, Sockets: n.sockets, Log: n.log})
	listenin.Mount(a, n.guests)
	wsagent.Mount(a, &wsagent.Handler{Agents: n.agents, Log: n.log, Limits: n.limits, Open: &n.sockets.Limits, Resume: n.resume})
	if n.cfg.WebRTC {
		web := n.web
		if web == nil { // nobody calls: the routes are only described
			web = n.newWebRTC()
		}
		webrtc.Mount(a, web)
	}
	n.mountNumbers(a)
	if n.cfg.Telephony() {
		callcenter.MountCalls(a, n.db, telephony{n.cluster, n.dialler}, &n.sockets.Limits)
		callcenter.MountBulk(a, n.db, n.db.RateCard, n.batches)
		mediastream.Mount(a, n.streams())
		phone.Mount(a, lines.Browsers(n.phone, n.log))
		trunks.Mount(a, linestore.New(n.db, n.secrets), n.lines, n.db, lines.Reached(n.cfg))
		callcenter.MountBulkTools(a, n.db, files, n.db.RateCard, n.batches)
	}
	callcenter.MountFollow(a, n.db, telephony{n.cluster, n.dialler}, &n.sockets.Limits)
	status.Mount(a, server)
	mcp.Mount(a, &mcp.Tools{Server: server, Voice: speech, Books: work, Log: n.log})
	api.MountDocument(a)
	pages.Mount(a)
	docs.Mount(a, docs.Options{Engines: engine.Documented(), Base: n.cfg.BaseURL, Telephone: lines.Reached(n.cfg), Card: n.db.RateCard}) // last: it describes all others
	return a
}

// credentials looks up whatever a client may send. Management takes the dashboard's
// sign-in, too.
type credentials struct {
	*Node
	*dashboard.Dashboard
}

// Authenticate implements api.Keys.
func (c credentials) Authenticate(ctx context.Context, secret string) (api.Principal, error) {
	return ticket.Keys{Signer: c.tickets, Store: c.db, People: people.New(c.db)}.Authenticate(ctx, secret)
}

// telephony is the calls of accounts: begun here, and followed on all nodes.
type telephony struct {
	*cluster.Member
	dialler *outbound.Dialler // nil without telephony
}

// Dial implements callcenter.Calls.
func (t telephony) Dial(ctx context.Context, p api.Principal, o callcenter.Order) (*wire.Placed, error) {
	return t.dialler.Dial(ctx, p, o)
}

// checkVariables refuses values of variables that an agent does not have.
func (n *Node) checkVariables(a *store.Agent, given map[string]string) error {
	plan := conversation.PlanOf(a, n.log)
	return plan.Check(given)
}
