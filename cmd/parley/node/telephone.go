package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api/mediastream"
	"parley/cmd/parley/config"
	"parley/cmd/parley/inbound"
	"parley/cmd/parley/lines"
	"parley/cmd/parley/move"
	"parley/cmd/parley/outbound"
	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/trunk"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/passports"
	"parley/store/sounds"
	"parley/store/trunks"
)

// openTelephony makes the telephone, and what takes and places calls on it. The key that hashes
// numbers in the evidence of consent comes from the master key.
func (n *Node) openTelephony(secret string, reg prometheus.Registerer) (err error) {
	if n.cfg.Carrier == "simulated" {
		if err = n.openNetwork(); err != nil {
			return fmt.Errorf("simulated carrier: %w", err)
		}
	}
	if n.phone, err = n.telephone(); err != nil {
		return fmt.Errorf("telephone: %w", err)
	}
	if n.shared() {
		n.registrar = lines.NewRegistrar(lines.RegistrarConfig{Store: trunks.New(n.db, n.secrets), Phone: n.phone, Life: n.life, Now: n.db.Now, Log: n.log})
	}
	n.lines = lines.New(lines.Config{Store: trunks.New(n.db, n.secrets), Phone: n.phone, Operator: n.operatorTrunks(), Guard: n.guard.Address, Log: n.log})
	to := outbound.Destinations{Card: n.db.RateCard, Fictional: n.cfg.Carrier == "simulated"}
	n.texts.Classify = to.Classify
	n.transfers = &outbound.Transfers{Store: n.db, Texts: &n.texts, Calls: n.manager, Phone: n.phone, Maker: n.maker, Destinations: to, Sounds: sounds.New(n.db),
		Counts: &n.counts, Attempts: outbound.NewAttempts(), Log: n.log}
	n.dialler = &outbound.Dialler{Store: n.db, Numbers: numbers.New(n.db), History: history.New(n.db), Calls: n.manager, Phone: n.phone, Maker: n.maker, Transfers: n.transfers,
		Destinations: to, ConsentKey: derived(secret, "consent"), Free: func() { n.batches.Wake() }, Log: n.log}
	n.batches = outbound.NewBatches(campaign.New(n.db), n.dialler, n.life, &n.counts)
	n.inbound = inbound.New(inbound.Answerer{Store: n.db, Ledger: ledger.New(n.db), Numbers: numbers.New(n.db), Calls: n.manager, Maker: n.maker, Transfers: n.transfers, Trunks: n.cfg.Trunks,
		Webhooks: n.hooks, Poster: n.poster, Log: n.log})
	n.moves = move.New(move.Config{Store: n.db, Ledger: ledger.New(n.db), Life: n.life, Peers: n.cluster, Calls: n.manager, Maker: n.maker, Transfers: n.transfers, Phone: n.phone,
		Passports: passports.New(n.db), Log: n.log}, reg)
	return nil
}

// telephone makes the SIP side.
func (n *Node) telephone() (*sip.UserAgent, error) {
	listen, err := config.Listening(n.cfg.SIPAddr)
	if err != nil {
		return nil, err
	}
	ports, err := rtpport.New(rtpport.Config{Addr: listen.Addr(), First: uint16(n.cfg.RTPPorts.First), Last: uint16(n.cfg.RTPPorts.Last)})
	if err != nil {
		return nil, err
	}
	cfg := sip.Config{Listen: listen, PublicIP: n.cfg.PublicIP, Ports: ports, Allow: n.cfg.TakesCallsFrom,
		Trunks: n.operatorTrunks(), SharedTrunks: n.shared(), RejectUnknown: n.cfg.SIPUnknown == "reject", OnCall: func(ctx context.Context, in *sip.Incoming) { n.inbound.Take(ctx, in) }, Logger: n.log, RTPTimeout: n.cfg.MediaTimeout,
		Away: func() bool { return !n.manager.HasDatabase() }, Codecs: n.cfg.Codecs, SRTP: sdp.SRTPOffered} // trunks have their own
	if n.cfg.SIPTLSAddr != "" {
		if cfg.ListenTLS, err = config.Listening(n.cfg.SIPTLSAddr); err != nil {
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

// streams takes calls that carriers bring over WebSockets.
func (n *Node) streams() *mediastream.Handler {
	return &mediastream.Handler{Trunk: n.lines.Stream, Take: n.inbound.TakeStream, Base: n.cfg.BaseURL, Peers: n.cluster, Epoch: n.life.Epoch, Now: n.db.Now, Log: n.log}
}

// shared says whether there may be other nodes: a private database has one.
func (n *Node) shared() bool { return n.cfg.DatabaseURL != "" }

// operatorTrunks are those of the configuration, and the simulated carrier's.
func (n *Node) operatorTrunks() []trunk.Config {
	if n.network == nil {
		return n.cfg.Trunks
	}
	return append(slices.Clip(n.cfg.Trunks), n.networkTrunk())
}
