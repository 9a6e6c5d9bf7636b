package node

import (
	"fmt"
	"path/filepath"

	"parley/api"
	"parley/api/callcenter"
	"parley/cmd/parley/inbound"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/sip/carrier/telnyx"
	"parley/sip/carrier/trunk"
)

// prepareNumbers makes the desk that sells numbers, before the queue of jobs opens.
func (n *Node) prepareNumbers() {
	if n.cfg.Telephony() {
		n.numbers = n.newNumbers()
		n.numbers.Work(n.jobs)
	}
}

func (n *Node) newNumbers() *callcenter.Numbers {
	return callcenter.New(callcenter.Numbers{Store: n.db, Card: n.db.RateCard, Routing: inbound.Routing(), Log: n.log})
}

// SellNumbers connects to the configured carrier. Call it before Parts and Handler;
// DataDir must be set. Without telephony it does nothing.
func (n *Node) SellNumbers() (err error) {
	if n.numbers == nil {
		return nil
	}
	var c carrier.Carrier
	switch n.cfg.Carrier {
	case "simulated":
		c, err = simulated.New(simulated.Config{File: filepath.Join(n.DataDir, "simulated-numbers.json")})
	case "telnyx":
		c, err = telnyx.New(telnyx.Config{APIKey: n.cfg.TelnyxAPIKey, PublicKey: n.cfg.TelnyxPublicKey, ConnectionID: n.cfg.TelnyxConnectionID})
	case "sip":
		var numbers []string
		for _, t := range n.cfg.Trunks {
			numbers = append(numbers, t.Numbers...)
		}
		c, err = trunk.New(numbers)
	}
	if err != nil {
		return fmt.Errorf("carrier: %w", err)
	}
	n.numbers.Carrier = c
	return nil
}

// mountNumbers adds the routes of numbers; without telephony there are none.
func (n *Node) mountNumbers(a *api.API) {
	switch {
	case n.numbers != nil:
		callcenter.Mount(a, n.numbers)
	case n.cfg.Telephony(): // they are described and not used
		callcenter.Mount(a, callcenter.New(callcenter.Numbers{Routing: inbound.Routing()}))
	}
}
