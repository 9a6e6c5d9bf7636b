package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"parley/api/wallet"
	"parley/store"
	"parley/store/bus"
	"parley/store/jobs"
	"parley/store/mail"
)

type publishWarnings struct{}

// Kind implements jobs.Args.
func (publishWarnings) Kind() string { return "publish_warnings" }

type mailWarnings struct{}

// Kind implements jobs.Args.
func (mailWarnings) Kind() string { return "mail_warnings" }

// Warnings publishes the warnings of accounts on the bus, for pages that are open, and mails
// them.
type Warnings struct {
	Store   *store.DB
	Publish func(subject bus.Subject, text []byte) error
	Mail    *mail.Server // nil: warnings are not mailed
	Log     *slog.Logger
}

// Handle adds the kinds of jobs. Call it before the queue opens.
func (w *Warnings) Handle(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, w.publish)
	jobs.WhenDue(q, store.WarningUnpublished, publishWarnings{})
	jobs.Handle(q, jobs.Limits{Workers: mailers, Timeout: mailTime}, w.mail)
	due := time.Duration(0)
	if w.Mail == nil {
		due = mailLife // they are given up then
	}
	jobs.WhenDue(q, store.MailDue(due), mailWarnings{})
}

// warningBatch is how many warnings are published at once.
const warningBatch = 100

// publish publishes the warnings that were not published yet. Subscribers also find them in the
// database, so a warning that fails waits for the next round.
func (w *Warnings) publish(ctx context.Context, _ publishWarnings) error {
	for {
		list, err := w.Store.UnpublishedWarnings(ctx, warningBatch)
		if err != nil {
			return err
		}
		for i := range list {
			if err := w.publishOne(&list[i]); err != nil {
				w.Log.Debug("a warning was not published", "warning", list[i].ID, "err", err)
				return nil
			}
			if err := w.Store.WarningPublished(ctx, list[i].Account, list[i].ID); err != nil {
				return err
			}
		}
		if len(list) < warningBatch {
			return nil
		}
	}
}

func (w *Warnings) publishOne(one *store.Warning) error {
	text, err := json.Marshal(wallet.ViewEvent(one))
	if err != nil {
		return err
	}
	s, err := bus.Events(one.Account)
	if err != nil {
		return err
	}
	return w.Publish(s, text)
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
	// rechargeTime is how long automatic recharge may take before the owner of the account
	// reads that the balance is low.
	rechargeTime = 10 * time.Minute
)

// mail makes a round of the mails that are due.
func (w *Warnings) mail(ctx context.Context, _ mailWarnings) error {
	forgotten, err := w.Store.ForgetMail(ctx, w.Store.Now().Add(-mailLife))
	if err != nil {
		return err
	}
	if w.Mail == nil {
		return nil
	}
	if forgotten > 0 {
		w.Log.Warn("warnings were not mailed for a day and are given up", "warnings", forgotten)
	}
	return jobs.Drain(ctx, mailRound, w.Store.ClaimMail, w.send)
}

// send sends a claimed mail, if there is still reason to, and stores the outcome. When this
// process dies between the two, the mail is sent again, under the same message ID.
func (w *Warnings) send(ctx context.Context, m *store.WarningMail) error {
	now := w.Store.Now()
	log := w.Log.With("account", m.Account, "warning", m.ID, "kind", m.Kind)
	switch {
	case m.To == "", m.ClearedAt != nil && !m.ClearedAt.After(now):
		return w.Store.MailNever(ctx, m)
	case m.Kind == store.WarnBalanceLow && m.Recharging && now.Sub(m.CreatedAt) < rechargeTime:
		return w.Store.MailLater(ctx, m, m.CreatedAt.Add(rechargeTime))
	}
	err := w.Mail.Send(ctx, letter(m))
	switch {
	case err == nil:
		return w.Store.WarningMailed(ctx, m)
	case ctx.Err() != nil: // the node stops
		return ctx.Err()
	case errors.Is(err, mail.ErrRefused):
		log.Warn("a warning cannot be mailed and is given up", "err", err)
		return w.Store.MailNever(ctx, m)
	}
	wait := min(lastMailRetry, mailRetry<<min(m.Try-1, 10))
	log.Warn("a warning could not be mailed and is tried again", "try", m.Try, "wait", wait, "err", err)
	return w.Store.MailLater(ctx, m, now.Add(wait))
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
	store.WarnEngineKey:       "A key for an engine is refused",
}

// maxMailedName bounds the name of an account in a mail, in characters.
const maxMailedName = 60

// oneLine is a name as a mail quotes it: a name adds no lines to the server's text.
func oneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxMailedName {
		return string(r[:maxMailedName]) + "…"
	}
	return name
}

// letter is what the owner of an account reads.
func letter(m *store.WarningMail) mail.Message {
	return mail.Message{ID: m.ID, To: m.To, Date: m.CreatedAt, Subject: "Parley: " + subjects[m.Kind],
		Text: fmt.Sprintf("%s\n\nAccount: %s (%s)\nNoticed: %s\n", wallet.Sentence(&m.Warning), oneLine(m.Name), m.Account, m.CreatedAt.UTC().Format(time.RFC1123))}
}
