package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"parley/api/wallet"
	"parley/store"
	"parley/store/bus"
	"parley/store/jobs"
	"parley/store/mail"
)

// Accounts are warned by the transaction that noticed something: it queues these two
// jobs. What they did not get done, and warnings of commands, the next round finds.
const warningsEvery = 15 * time.Second

type publishWarnings struct{}

// Kind implements jobs.Args.
func (publishWarnings) Kind() string { return "publish_warnings" }

type mailWarnings struct{}

// Kind implements jobs.Args.
func (mailWarnings) Kind() string { return "mail_warnings" }

// handleWarnings has warnings published and mailed. The queue is not open yet.
func (n *Node) handleWarnings() (err error) {
	if n.cfg.SMTPURL != "" {
		if n.mail, err = mail.Parse(n.cfg.SMTPURL); err != nil {
			return err
		}
	}
	jobs.Handle(n.jobs, jobs.Limits{Workers: 1, Timeout: time.Minute}, n.publishWarnings)
	jobs.Every(n.jobs, warningsEvery, publishWarnings{})
	jobs.Handle(n.jobs, jobs.Limits{Workers: mailers, Timeout: mailTime}, n.mailWarnings)
	jobs.Every(n.jobs, warningsEvery, mailWarnings{})
	return nil
}

// warningBatch is how many warnings are published at once.
const warningBatch = 100

// publishWarnings says on the bus what was not said there yet. Nobody waits for it
// alone, for all of it is in the database; so it is not tried again before the next
// round.
func (n *Node) publishWarnings(ctx context.Context, _ publishWarnings) error {
	for {
		list, err := n.db.UnpublishedWarnings(ctx, warningBatch)
		if err != nil {
			return err
		}
		for i := range list {
			if err := n.publish(&list[i]); err != nil {
				n.log.Debug("the bus was not told of a warning", "warning", list[i].ID, "err", err)
				return nil
			}
			if err := n.db.WarningPublished(ctx, list[i].Account, list[i].ID, n.db.Now()); err != nil {
				return err
			}
		}
		if len(list) < warningBatch {
			return nil
		}
	}
}

func (n *Node) publish(w *store.Warning) error {
	text, err := json.Marshal(wallet.ViewEvent(w))
	if err != nil {
		return err
	}
	s, err := bus.Events(w.Account)
	if err != nil {
		return err
	}
	return n.bus.Publish(s, text)
}

// Bounds of mailing.
const (
	mailers = 2 // jobs at once: a slow mail server holds up one
	// mailTime ends a job, and mailRound is when it takes no further mail: what it
	// took last has its minute.
	mailTime, mailRound = 2 * time.Minute, 30 * time.Second
	// mailLife is how long a warning may wait for its mail: an older one is no news.
	mailLife = 24 * time.Hour
	// A mail that failed for now is tried again after half a minute first, and an
	// hour at last.
	mailRetry, lastMailRetry = 30 * time.Second, time.Hour
	// rechargeTime is how long automatic recharge may take before its owner reads
	// that the balance is low.
	rechargeTime = 10 * time.Minute
)

// mailWarnings mails what is due.
func (n *Node) mailWarnings(ctx context.Context, _ mailWarnings) error {
	begun := time.Now()
	forgotten, err := n.db.ForgetMail(ctx, begun.Add(-mailLife))
	if err != nil {
		return err
	}
	if n.mail == nil {
		return nil
	}
	if forgotten > 0 {
		n.log.Warn("warnings were not mailed for a day and are given up", "warnings", forgotten)
	}
	for time.Since(begun) < mailRound {
		m, err := n.db.ClaimMail(ctx, n.db.Now())
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = n.mailWarning(ctx, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mailWarning sends a claimed mail, if there is still reason to, and notes what came
// of it. Between the two this process may die: then the mail is sent again, under the
// same name.
func (n *Node) mailWarning(ctx context.Context, m *store.WarningMail) error {
	now := n.db.Now()
	log := n.log.With("account", m.Account, "warning", m.ID, "kind", m.Kind)
	switch {
	case m.To == "", m.ClearedAt != nil && !m.ClearedAt.After(now):
		return n.db.MailNever(ctx, m)
	case m.Kind == store.WarnBalanceLow && m.Recharging && now.Sub(m.CreatedAt) < rechargeTime:
		return n.db.MailLater(ctx, m, m.CreatedAt.Add(rechargeTime))
	}
	err := n.mail.Send(ctx, letter(m))
	switch {
	case err == nil:
		return n.db.WarningMailed(ctx, m, now)
	case ctx.Err() != nil: // the node stops
		return ctx.Err()
	case errors.Is(err, mail.ErrRefused):
		log.Warn("a warning cannot be mailed and is given up", "err", err)
		return n.db.MailNever(ctx, m)
	}
	wait := min(lastMailRetry, mailRetry<<min(m.Try-1, 10))
	log.Warn("a warning could not be mailed and is tried again", "try", m.Try, "wait", wait, "err", err)
	return n.db.MailLater(ctx, m, now.Add(wait))
}

// subjects of mails, by what they warn of.
var subjects = map[store.WarningKind]string{
	store.WarnBalanceLow:     "Your balance is low",
	store.WarnNumberPastDue:  "A telephone number could not be paid",
	store.WarnNumberReleased: "A telephone number is lost",
	store.WarnRechargeFailed: "Automatic recharge has failed",
	store.WarnDisputeOpened:  "A payment is disputed",

	store.WarnWebhookDisabled: "A webhook is disabled",
	store.WarnSpending:        "A limit of spending is nearly reached, or reached",
}

// maxMailedName bounds the name of an account in a mail, in characters.
const maxMailedName = 60

// oneLine is a name as a mail quotes it: whoever chose it writes no lines of their own
// into what the server says.
func oneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if short := clippedTo(name, maxMailedName); short != name {
		return short + "…"
	}
	return name
}

// letter is what the owner of an account reads.
func letter(m *store.WarningMail) mail.Message {
	return mail.Message{ID: m.ID, To: m.To, Date: m.CreatedAt, Subject: "Parley: " + subjects[m.Kind],
		Text: fmt.Sprintf("%s\n\nAccount: %s (%s)\nNoticed: %s\n", wallet.Sentence(&m.Warning), oneLine(m.Name), m.Account, m.CreatedAt.UTC().Format(time.RFC1123))}
}
