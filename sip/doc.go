// Package sip is Parley's telephone line: a SIP user agent (RFC 3261) over UDP,
// TCP and TLS whose calls are media.Legs of G.722, G.711 or Opus over RTP. Its calls come and go
// on trunks, see package trunk.
//
// The library below package transport moves messages and keeps transactions. Dialogs are
// ours, because that is where calls are lost: who repeats a 200 and for how
// long, what a CANCEL does that crosses it, which CSeq an ACK carries, what a
// re-INVITE changes and what it leaves. Each call has one goroutine, its
// mailbox, in which everything that happens to the dialog happens in order.
//
// What takes minutes inside a call, session timers (RFC 4028), back-off after a
// collision, transfers (RFC 3515), hangs on timers of that goroutine. Requests of ours run
// beside it, and their outcome comes back into the mailbox.
//
// A call hears the hosts that it names, while it lasts: those of its Contact and of its first
// router, so a gateway behind a proxy that does not stay in the call can end it. They begin
// nothing: their INVITEs are refused. The ACK waits for no lookup: it goes at once to where the
// INVITE went, and to where the route leads as soon as that is known. A call that is given up
// while it rings waits 2 s at most for an answer that has crossed the CANCEL: the carrier
// charges for it, the customer does not pay, and it ends as AnsweredAfterCancel. Traces leave
// out the headers that the operator has a trunk send, for carriers take such tokens as
// credentials.
//
// Over UDP, a far end behind an address translator is asked every 24 s whether it is there (OPTIONS), so
// that the translator keeps the way open by which our next request comes. Traces leave that out.
//
// Five packages know nothing of calls: admission says which come in, on which trunk; dialog builds requests and says where they go;
// header reads and writes what messages say; mediasession has what both ends of a call hear; sdp negotiates about it.
//
// An incoming call is a function call: Config.OnCall gets an Incoming, refuses
// it or answers it, runs the Leg and returns when the call is over. UserAgent's
// Dial places one.
//
// Every call has a session timer (RFC 4028), also where the far end knows none: while it holds
// us no RTP timeout runs, and nothing else would notice that it is gone. A refresh is an UPDATE
// without an offer where that is supported, else a re-INVITE with the description in force. Only
// silence, 408 and 481 end a call before its session expires; after another refusal it is asked
// again. It waits for the end of the one before, for an unconfirmed 2xx and out of a collision.
//
// A call moves to another user agent by a Passport (passport.go): its leg yields it, and the other agent adopts it (adopt.go) by a
// re-INVITE in the same dialog, so the far end stays connected. Calls over UDP, TCP and TLS can move. The passport holds no key:
// where the description has carried those of the audio, the other agent offers a new one of its own, and the far end's comes with
// its answer. That may be the old one, so the passport says how often the sequence number of the far end's stream has wrapped.
// Keys that a handshake has brought do not move, nor do far ends that make connectivity checks.
//
// # Calls
//
// Read this table, then call.go; other goroutines reach a call by owner.go. A call has one
// state; what the far end and its handler do moves it:
//
//	state      event                          action                                        next
//	early      Ring, Progress                 180 or 183, reliably if the caller wants so   early
//	early      Answer                         200, wait for its ACK                         answered
//	early      Reject, fault, end of OnCall   final response                                over
//	early      CANCEL, BYE                    487                                           over
//	calling    2xx                            ACK, begin media                              up
//	calling    2xx, and DTLS brings the keys  ACK                                           securing
//	calling    other final response           see client INVITE                             over
//	answered   ACK, or authentic media        begin media                                   up
//	answered   ACK, and DTLS brings the keys  none                                          securing
//	answered   keys by DTLS                   begin media                                   up
//	securing   keys by DTLS                   begin media                                   up
//	securing   hang up, no keys for 64*T1     BYE                                           ending
//	answered   hang up                        remember why                                  leaving
//	answered   no ACK for 64*T1               BYE                                           ending
//	leaving    ACK                            BYE                                           ending
//	up         hang up, session expired       BYE                                           ending
//	up         BYE                            200, end the leg                              over
//	up         Yield                          none                                          yielded
//	yielded    Reclaim                        send the refresh that had to wait             up
//	yielded    Release                        end the leg                                   over
//	yielded    hang up, session expired       BYE                                           ending
//	up         Abandon                        end the leg                                   over
//	yielded    Abandon                        end the leg                                   over
//	adopting   2xx to the re-INVITE           ACK, begin media                              up
//	adopting   491 to the re-INVITE           ask again in 0.2 to 0.5 s                     adopting
//	adopting   other final, hang up           none                                          over
//	ending     response to BYE, 64*T1         none                                          over
//	any        BYE in all between             200                                           over
//
// Four types have states of their own beside it, and leg.go has what the media needs of the call.
//
// # Server INVITE
//
// An incoming INVITE (server_invite.go), its reliable provisional responses (reliable.go) and
// the 2xx that waits for its ACK (unacked.go):
//
//	state         event                action                                   next
//	undecided     Ring with 100rel     send, with our offer if they made none   unconfirmed
//	undecided     Answer               200 with the answer, or with our offer   unacked
//	unconfirmed   T1, 2*T1, ...        send it again                            unconfirmed
//	unconfirmed   64*T1                504                                      refused
//	unconfirmed   PRACK                200, take its answer                     undecided
//	unconfirmed   Answer               wait for the PRACK if our offer is out   unconfirmed
//	unacked       T1, 2*T1, ... 4 s    send the 2xx again                       unacked
//	unacked       ACK                  take its answer                          confirmed
//
// # Client INVITE
//
// An INVITE of ours on one server (client_invite.go); beside the state stands what was heard
// at most: nothing, progress (183) or ringing (180). It knows its call as the interface
// outgoing, which client_call.go implements. Early dialogs are in fork.go, the ACK in ack.go:
//
//	state        event                    action                                       next
//	sent         silence for 4 s          CANCEL when it wakes up, try next server     ended
//	sent         1xx                      note what was heard, PRACK if reliable       proceeding
//	both         401, 407, 422            send again with credentials, or longer       sent
//	both         2xx                      ACK, choose the early dialog                 answered
//	both         other final              give its outcome                             ended
//	sent         given up                 wait for a response                          sent
//	proceeding   given up                 CANCEL                                       canceled
//	canceled     2xx                      ACK and BYE, answered_after_cancel           ended
//	canceled     other final, 64*T1       none                                         ended
//
// # Modification
//
// A re-INVITE or UPDATE (modification.go). Ours refresh the session, and change nothing:
//
//	state      event                                action                      next
//	idle       refresh is due                       none                        due
//	due        up, no 2xx of ours waits for ACK     send it                     sent
//	sent       2xx                                  ACK, apply the answer       idle
//	sent       491, 422, 500/503 with Retry-After   wait                        back-off
//	sent       405, 501 to UPDATE                   use INVITE                  back-off
//	sent       408, 481, no response                BYE                         idle
//	sent       other final                          ask again in a while        idle
//	sent       theirs, both with an offer           491                         sent
//	any        theirs                               answer, 2xx                 same
//	back-off   timer                                none                        due
//
// # Transfer
//
// A REFER of ours and its subscription (transfer.go), which has nothing of the call but its
// timers:
//
//	state      event                         action                    next
//	asked      2xx                           wait 1 min for a notice   accepted
//	asked      other final, no response      report it                 ended
//	asked      NOTIFY with an outcome        report it                 ended
//	accepted   NOTIFY in progress            wait again                accepted
//	accepted   NOTIFY with an outcome, BYE   report it                 notified
//	accepted   silence                       report ErrNoOutcome       notified
//	ended      2xx                           none                      notified
//	ended      NOTIFY                        481                       ended
//	notified   NOTIFY                        200                       notified
package sip
