package wsagent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/api"
	sockets "parley/api/socket"
	"parley/api/talk"
)

// tokenValid is how long a token is good, which is longer than a conversation lasts.
const tokenValid = 3 * time.Hour

// Resumption gives clients whose connections were lost their conversations back. A client that announces the feature
// resume gets a token; with that it comes back within resumeWithin. The token names the call, the life of the server that
// has it, and when it expires; its seal holds for the account alone. A client that comes back is
// authenticated as for a new conversation, and a session ticket must be for the same agent.
//
// The fields are not changed after the first request. It may be used from several goroutines.
type Resumption struct {
	Key   string           // seals tokens; it is that of all servers of the cluster
	Node  int64            // the epoch of this server among them
	Peers api.Peers        // the others; nil: there are none
	Now   func() time.Time // by which tokens expire

	mu   sync.Mutex
	open map[string]*session // conversations of this server, by their calls
}

// enter takes a conversation in, until leave.
func (r *Resumption) enter(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]*session{}
	}
	r.open[s.call] = s
}

func (r *Resumption) leave(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, s.call)
}

// token is one for a conversation.
func (r *Resumption) token(s *session) string {
	text := s.call + "." + strconv.FormatInt(r.Node, 36) + "." + strconv.FormatInt(r.Now().Add(tokenValid).Unix(), 36)
	return text + "." + r.seal(s.by.Account, text)
}

// seal is that of a token's text.
func (r *Resumption) seal(account, text string) string {
	h := hmac.New(sha256.New, []byte(r.Key))
	h.Write([]byte(account + "\n" + text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// read is what a token of the account's says.
func (r *Resumption) read(account, token string) (call string, node int64, err error) {
	end := strings.LastIndexByte(token, '.')
	if end < 0 || !hmac.Equal([]byte(token[end+1:]), []byte(r.seal(account, token[:end]))) {
		return "", 0, api.ErrSessionOver
	}
	parts := strings.Split(token[:end], ".") // which are ours
	until, err := strconv.ParseInt(parts[len(parts)-1], 36, 64)
	if err != nil || r.Now().Unix() >= until {
		return "", 0, api.Detail(api.ErrSessionOver, "the token has expired")
	}
	node, err = strconv.ParseInt(parts[len(parts)-2], 36, 64)
	return parts[0], node, err
}

// find is the conversation of a token that p may go on with.
func (r *Resumption) find(p api.Principal, token string) (*session, error) {
	call, _, err := r.read(p.Account, token)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.open[call]
	if s == nil || !s.opens(p) {
		return nil, api.ErrSessionOver
	}
	return s, nil
}

// opens says whether a principal of the account may go on with the conversation: a session ticket opens what another one
// for the same agent has begun.
func (s *session) opens(p api.Principal) bool {
	if p.Ticket == nil || p.Ticket.Agent == "" {
		return true
	}
	return s.by.Ticket != nil && s.by.Ticket.Agent == p.Ticket.Agent
}

// tokenOf is the token of a request; empty: it is for a new conversation.
func tokenOf(r *http.Request) string { return r.URL.Query().Get("resume") }

// elsewhere sends a client on to the server that has its conversation.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) bool {
	token := tokenOf(r)
	if token == "" || h.Resume == nil || h.Resume.Peers == nil {
		return false
	}
	_, node, err := h.Resume.read(api.AccountOf(r.Context()), token)
	return err == nil && node != h.Resume.Node && h.Resume.Peers.Forward(w, r, node)
}

// resume serves another socket of a conversation. The conversation has its place among the account's sockets already, so
// that it gets it back where the account has as many as it may. It returns when the socket has ended.
func (h *Handler) resume(w http.ResponseWriter, r *http.Request, p api.Principal) {
	sock, err := sockets.Open(w, r, queueSize, writeWait, "")
	if err != nil {
		return // the client has its answer
	}
	var s *session
	err = api.ErrSessionOver
	if h.Resume != nil {
		s, err = h.Resume.find(p, tokenOf(r))
	}
	var in sockets.Incoming
	if err == nil {
		frames := sockets.NewFrames(sock, bufferPool, bufferSize)
		if in = s.incoming(frames); !s.leg.line.take(frames) {
			err = api.ErrSessionOver
		}
	}
	sock.Run(in, func(ctx context.Context) {
		if err != nil {
			h.refuse(ctx, sock, err)
			return
		}
		h.log(ctx, "the client of a conversation is back", "session", s.call)
		<-sock.Gone()
	})
	if err != nil && h.Limits != nil {
		h.Limits.Ended(p, 0)
	}
}

// refuse tells a client why it has no conversation, and ends its socket.
func (h *Handler) refuse(ctx context.Context, sock *sockets.Socket, err error) {
	api.Refused(ctx, err)
	talk.NewClient(sock.OfferText).Error(err, api.ProblemOf(err).Detail)
	sock.Close(sockets.Refusal(err))
}

// log logs something that operators look for.
func (h *Handler) log(ctx context.Context, what string, args ...any) {
	if h.Log != nil {
		api.LogOf(ctx, h.Log).Info(what, args...)
	}
}
