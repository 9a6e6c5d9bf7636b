// Package ticket makes and reads the short-lived credentials that may be given to
// browsers. A ticket carries what it allows, locked with the server's secret, so that
// only nodes with the same secret read it, and none stores it.
package ticket

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"parley/api"
	"parley/billing"
	"parley/store"
)

// prefix tells tickets from API keys.
const prefix = "wst_"

// The form of a ticket: the prefix, then in base64url (RFC 4648, section 5) without
// padding:
//
//	byte     lockedForm
//	4 bytes  identifier of the secret
//	24 bytes random
//	the rest is encrypted and sealed, with all before (XChaCha20-Poly1305), because
//	strangers hold tickets and need not know what an account's things are called:
//	8 bytes  expiry, milliseconds of Unix time, big endian
//	3 texts  key, account, agent (empty: not a session ticket); each as a
//	         varint of its length and its bytes
//	3 varints conversations it may start, seconds that each may last, its scope; 0: any
//	1 varint  cents that each conversation may cost; absent, or 0 before what follows: any
//	1 text    what it says of each conversation, as JSON; absent: nothing
//
// Until none is left that a version before made, those are read, too: form, identifier,
// expiry, 12 bytes random, texts and numbers in the clear, the scope only in scopedForm, and
// an HMAC-SHA-256 of all that.
const (
	form       = 1
	scopedForm = 2
	lockedForm = 3
	secretSize = 4
	nonceSize  = 12      // of those in the clear; of all, what their identifiers are made of
	maxSize    = 4 << 10 // characters; ours have about 200, beside what is said of conversations
	maxSaid    = 2000    // bytes of that
)

// text is the whole of base64url, where other spellings of the same bytes are
// refused: what is one credential must have one name.
var text = base64.RawURLEncoding.Strict()

// Identifiers of tickets are their random part, which opens nothing.
const idPrefix = "tkt_"

var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// Signer makes and reads tickets. It is safe for use from several goroutines.
type Signer struct {
	secret []byte // its identifier
	key    []byte // of seals in the clear
	lock   cipher.AEAD
}

// NewSigner returns a signer whose keys are derived from the master secret (RFC
// 5869). The error says that the secret is too short for the cryptography in use.
func NewSigner(secret string) (*Signer, error) {
	s := &Signer{}
	var key []byte
	for _, k := range []struct {
		to   *[]byte
		info string
		size int
	}{{&s.secret, "parley ticket secret id", secretSize}, {&s.key, "parley ticket seal", sha256.Size}, {&key, "parley ticket lock", chacha20poly1305.KeySize}} {
		var err error
		if *k.to, err = hkdf.Key(sha256.New, []byte(secret), nil, k.info, k.size); err != nil {
			return nil, fmt.Errorf("ticket keys: %w", err)
		}
	}
	var err error
	if s.lock, err = chacha20poly1305.NewX(key); err != nil {
		return nil, fmt.Errorf("ticket keys: %w", err)
	}
	return s, nil
}

// Sign makes a ticket that speaks for p's key as p.Ticket says: its expiry in whole
// milliseconds, its longest conversation in whole seconds, its dearest in whole cents. Its identifier is new,
// whatever p.Ticket.ID is.
func (s *Signer) Sign(p api.Principal) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.Ticket.Expires.UnixMilli()))
	for _, v := range []string{p.Key, p.Account, p.Ticket.Agent} {
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	b = binary.AppendUvarint(b, uint64(p.Ticket.MaxSessions))
	b = binary.AppendUvarint(b, uint64(p.Ticket.MaxDuration/time.Second))
	b = binary.AppendUvarint(b, uint64(p.Ticket.Scope))
	said := said{p.Ticket.Variables, p.Ticket.Metadata}.text()
	if p.Ticket.MaxCost > 0 || said != "" { // a version before, which would not keep to it, refuses the ticket
		b = binary.AppendUvarint(b, uint64(p.Ticket.MaxCost/billing.Cent))
	}
	if said != "" {
		b = append(binary.AppendUvarint(b, uint64(len(said))), said...)
	}
	return s.locked(b)
}

// said is what a session ticket says of each conversation.
type said struct {
	Variables map[string]string `json:"v,omitempty"`
	Metadata  map[string]string `json:"m,omitempty"`
}

func (s said) text() string {
	if len(s.Variables)+len(s.Metadata) == 0 {
		return ""
	}
	b, _ := json.Marshal(s) // texts can be written
	return string(b)
}

// locked is a ticket around what it says.
func (s *Signer) locked(body []byte) string {
	head := append([]byte{lockedForm}, s.secret...)
	nonce := make([]byte, s.lock.NonceSize())
	rand.Read(nonce)
	return prefix + text.EncodeToString(s.lock.Seal(append(head, nonce...), nonce, body, head))
}

func (s *Signer) seal(b []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(b)
	return h.Sum(nil)
}

// errTicket is why a ticket is refused. The reason is for tests and debuggers;
// clients learn only that the credential is not good.
func errTicket(why string) error { return fmt.Errorf("ticket: %w: %s", store.ErrUnauthorized, why) }

// Verify reads a ticket. It does not know whether the key from which the ticket was
// made is still good. The error is store.ErrUnauthorized.
func (s *Signer) Verify(ticket string, now time.Time) (api.Principal, error) {
	written, ok := strings.CutPrefix(ticket, prefix)
	if !ok || len(ticket) > maxSize {
		return api.Principal{}, errTicket("not a ticket")
	}
	b, err := text.DecodeString(written)
	// The decoder skips line breaks.
	if err != nil || text.EncodedLen(len(b)) != len(written) || len(b) < 1+secretSize+sha256.Size {
		return api.Principal{}, errTicket("malformed")
	}
	if !bytes.Equal(b[1:1+secretSize], s.secret) {
		return api.Principal{}, errTicket("of another secret")
	}
	var p api.Principal
	switch head := b[:1+secretSize]; b[0] {
	case lockedForm:
		nonce, rest := b[len(head):len(head)+s.lock.NonceSize()], b[len(head)+s.lock.NonceSize():]
		body, wrong := s.lock.Open(nil, nonce, rest, head)
		if wrong != nil {
			return api.Principal{}, errTicket("forged")
		}
		p, err = parse(body, nonce, true)
	case form, scopedForm:
		body, seal := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
		if !hmac.Equal(seal, s.seal(body)) {
			return api.Principal{}, errTicket("forged")
		}
		p, err = parseClear(body[len(head):], b[0] == scopedForm)
	default:
		return api.Principal{}, errTicket("of an unknown form")
	}
	if err != nil {
		return api.Principal{}, errTicket(err.Error())
	}
	if !now.Before(p.Ticket.Expires) {
		return api.Principal{}, errTicket("expired")
	}
	return p, nil
}

var errBody = errors.New("of another shape")

// parseClear reads what a version before wrote in the clear.
func parseClear(b []byte, scoped bool) (api.Principal, error) {
	if len(b) < 8+nonceSize {
		return api.Principal{}, errBody
	}
	nonce := b[8 : 8+nonceSize]
	p, err := parse(slices.Concat(b[:8], b[8+nonceSize:]), nonce, scoped)
	if err == nil && scoped && p.Ticket.Scope == 0 {
		return api.Principal{}, errBody
	}
	return p, err
}

// parse reads what a seal has proved to be ours. It checks nevertheless: an older
// or younger version of us may have sealed it.
func parse(b, nonce []byte, scoped bool) (api.Principal, error) {
	if len(b) < 8 {
		return api.Principal{}, errBody
	}
	t := &api.Ticket{Expires: time.UnixMilli(int64(binary.BigEndian.Uint64(b))), ID: idPrefix + idText.EncodeToString(nonce[:nonceSize])}
	p := api.Principal{Ticket: t}
	b = b[8:]
	var ok bool
	for _, to := range []*string{&p.Key, &p.Account, &t.Agent} {
		if *to, b, ok = readText(b); !ok {
			return api.Principal{}, errBody
		}
	}
	var sessions, seconds, scope, cents uint64
	numbers := []*uint64{&sessions, &seconds, &scope, &cents}
	if !scoped {
		numbers = numbers[:2]
	}
	for i, to := range numbers {
		if i == 3 && len(b) == 0 {
			break
		}
		n, size := binary.Uvarint(b)
		if size <= 0 || n > 1<<31 || i == 3 && n == 0 && len(b) == size {
			return api.Principal{}, errBody
		}
		*to, b = n, b[size:]
	}
	if scoped && len(b) > 0 {
		var text string
		var of said
		if text, b, ok = readText(b); !ok || json.Unmarshal([]byte(text), &of) != nil {
			return api.Principal{}, errBody
		}
		t.Variables, t.Metadata = of.Variables, of.Metadata
	}
	if len(b) > 0 || p.Key == "" || p.Account == "" || scope > uint64(api.AnyScope) {
		return api.Principal{}, errBody
	}
	t.Scope = api.Scope(scope)
	t.MaxSessions, t.MaxDuration = int(sessions), time.Duration(seconds)*time.Second
	t.MaxCost = billing.Money(cents) * billing.Cent
	return p, nil
}

// readText reads a text behind its length.
func readText(b []byte) (text string, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, false
	}
	b = b[size:]
	return string(b[:n]), b[n:], true
}
