package pipeline

import (
	"time"

	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// conduct is the loop: everything that can happen to a call happens here.
func (c *Call) conduct(gone <-chan error) (legErr error) {
	if c.crew.Life.Err() != nil { // ended before it began
		return nil
	}
	c.converse()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		timer.Reset(time.Until(c.bridge.Next(c.leg.Next())))
		other, left := c.bridge.Events()
		select {
		case <-timer.C:
		case m := <-c.crew.Box:
			c.receive(*m, journal.Received, c.deliver)
		case e := <-c.crew.stops:
			c.stop(e)
		case e := <-c.leg.Events():
			c.legEvent(e)
		case e := <-other:
			c.bridge.FromSecond(e)
		case <-left:
			if c.crew.Life.Err() != nil { // which ends both legs, and says why
				return nil
			}
			c.step(handedOver)
		case err := <-gone:
			if err == nil && c.state.Phase == turn.Bridged && c.crew.Life.Err() == nil {
				c.ended = &transferred
			}
			return err
		case <-c.crew.Life.Done():
			return nil
		}
		c.empty(journal.Received, c.deliver) // audio and the events before it meet the next frame together
		c.tick()
	}
	return nil
}

// converse begins the conversation.
func (c *Call) converse() {
	c.observer.Next(journal.Input{Kind: journal.Began})
	switch {
	case c.cfg.Resume == nil:
		c.ask()
	case c.cfg.Resume.Lost:
		c.adopted()
	}
}

// stop takes an end that was asked for.
func (c *Call) stop(e turn.Event) {
	c.observer.Next(journal.Input{Kind: journal.Stopped, Stop: &journal.Stop{Reason: e.Reason, Detail: e.Detail, Line: e.Line}})
	c.step(e)
}

// act carries out one decision of the turn machine.
func (c *Call) act(a turn.Action) {
	switch a.Kind {
	case turn.OpenUtterance:
		c.caller.OpenUtterance(c.state.Utterance(), c.cfg.Turn.StartAfter)
		c.observer.Note(journal.Note{Kind: journal.NoteUtterance, N: c.state.Utterance()})
	case turn.ResumeUtterance:
		c.caller.ResumeUtterance(c.state.Utterance(), c.cfg.Turn.StartAfter)
	case turn.CloseUtterance:
		c.caller.CloseUtterance(c.state.Utterance(), c.state.Silence(c.caller.End()), c.now())
	case turn.AskScore:
		c.askScore(a)
	case turn.BeginTurn:
		c.caller.BeginTurn()
		c.shown.TurnBegins()
	case turn.DropTurn:
		c.caller.DropTurn()
		c.shown.TurnBegins()
	case turn.Speculate:
		c.speculate(a)
	case turn.DropSpeculation:
		c.dropSpeculative(reply.Discarded)
	case turn.Commit:
		c.commit(a)
	case turn.FollowUp:
		c.followUp()
	case turn.Say:
		c.say(a.Line)
	case turn.NoteAnswer:
		c.noteAnswer(a.Text)
	case turn.LeaveMessage:
		c.agent.FirstMessage = c.cfg.Answering.Message
	case turn.Keep:
		c.keep(a)
	case turn.Cancel:
		c.supersede()
		c.emit(event.Event{Kind: event.Listening})
	case turn.GiveUp:
		c.giveUp()
	case turn.InterruptReply:
		c.cut()
	case turn.Finish:
		c.finishSentence()
	case turn.Duck, turn.Unduck:
		c.duck(a.Kind == turn.Duck)
	case turn.SayFiller:
		c.sayFiller(a.N)
	case turn.StopFiller:
		c.stopFiller()
	case turn.EndCollecting:
		c.carryOut(c.tools.Typed(a.Text, a.Detail))
	case turn.NoteKeys:
		c.noteKeys(a.Text)
	case turn.Listen:
		c.emit(event.Event{Kind: event.Listening})
	case turn.End:
		c.ended = &media.Ended{Reason: a.Reason, Detail: media.EndDetail(a.Detail)}
	}
}
