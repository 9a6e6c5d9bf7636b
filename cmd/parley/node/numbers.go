package node

import (
	"parley/api"
	"parley/api/callcenter"
	"parley/api/messages"
	"parley/cmd/parley/inbound"
	"parley/cmd/parley/seller"
	"parley/store"
	messagestore "parley/store/messages"
)

// prepareTexts makes the desk of text messages, before the queue of jobs opens.
func (n *Node) prepareTexts(life store.Node) {
	n.texts = messages.Desk{Store: messagestore.New(n.db), Node: life, Card: n.db.RateCard, Log: n.log}
	n.texts.Work(n.jobs)
}

// prepareNumbers makes the desk that sells numbers, before the queue of jobs opens.
func (n *Node) prepareNumbers() {
	if n.cfg.Telephony() {
		n.numbers = n.newNumbers()
		n.numbers.Work(n.jobs)
	}
}

func (n *Node) newNumbers() *callcenter.Numbers {
	return callcenter.New(callcenter.Numbers{Store: n.db, Card: n.db.RateCard, Routing: inbound.Routing(), Texts: n.texts.Notice, Log: n.log})
}

// SellNumbers connects to the configured carrier. Call it before Parts and Handler;
// DataDir must be set. Without telephony it does nothing.
func (n *Node) SellNumbers() (err error) {
	if n.numbers == nil {
		return nil
	}
	n.numbers.Carrier, n.texts.Carrier, err = seller.Open(n.cfg, n.DataDir)
	return err
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
