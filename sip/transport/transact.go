package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

// ErrSilent is the error of a request without an answer within its patience. Only that of
// an INVITE is shown: others are sent another way.
var ErrSilent = errors.New("no answer to the INVITE")

// ErrConnectionClosed is the end of a transaction whose connection is closed.
var ErrConnectionClosed = fmt.Errorf("the connection is closed: %w", gosip.ErrTransactionTransport)

// ConnectionClosed says whether the connection of a transaction is closed, where there is one: nothing
// comes over it any more. Callers that wait for a transaction ask every T1.
//
// The library can end transactions with their connection too, by an option. But it knows a
// client transaction before that has its first state, and when the connection closes in
// between, a goroutine of the library calls a nil function, which ends the process.
func ConnectionClosed(conn gosip.Connection) bool {
	switch conn.(type) {
	case *gosip.TCPConnection, *gosip.WSConnection:
		return conn.Ref(0) <= 0 // a reader holds a reference until the connection is closed
	}
	return false
}

// Begin sends a request in a client transaction of its own.
func (l *Layer) Begin(ctx context.Context, req *gosip.Request) (*gosip.ClientTx, error) {
	tx, err := l.txl.Request(ctx, req)
	if err == nil && req.Method == gosip.INVITE {
		tx.OnRetransmission(l.unmatched)
	}
	return tx, err
}

// Do connects, sends a request and waits for its final response, until ctx ends or the layer
// closes (ErrClosed). Above 0, patience bounds the wait for any response at all, with ErrSilent.
// The transaction of an INVITE goes on after Do, to confirm its final response again.
func (l *Layer) Do(ctx context.Context, by *Identity, patience time.Duration, req *gosip.Request) (*gosip.Response, error) {
	patient := ctx
	if patience > 0 {
		var stop context.CancelFunc
		patient, stop = context.WithTimeoutCause(ctx, patience, ErrSilent)
		defer stop()
	}
	if err := l.Connect(patient, by, req); err != nil {
		return nil, err
	}
	if to, err := netip.ParseAddrPort(req.Destination()); err == nil {
		defer l.Grant(to.Addr().Unmap()).Set()
	}
	tx, err := l.Begin(ctx, req)
	if err != nil {
		return nil, err
	}
	goesOn := false
	defer func() {
		if !goesOn {
			tx.Terminate()
		}
	}()
	for {
		res, err := l.Next(patient, tx)
		if err != nil {
			return nil, err
		}
		if !res.IsProvisional() {
			goesOn = req.Method == gosip.INVITE
			return res, nil
		}
		patient = ctx
	}
}

// Next waits for the next response of a transaction. The error is the transaction's,
// ErrConnectionClosed, ErrClosed, or the cause of ctx; the transaction goes on.
func (l *Layer) Next(ctx context.Context, tx *gosip.ClientTx) (*gosip.Response, error) {
	look := time.Tick(l.cfg.T1)
	for {
		select {
		case res := <-tx.Responses():
			return res, nil
		case <-tx.Done():
			return nil, tx.Err()
		case <-look:
			if ConnectionClosed(tx.Connection()) {
				return nil, ErrConnectionClosed
			}
		case <-l.ctx.Done():
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
