package session_test

import (
	"time"

	"parley/pipeline/session/sessiontest"
)

const ms = time.Millisecond

var (
	card    = sessiontest.Card
	web     = sessiontest.Web
	inbound = sessiontest.Inbound
	hungUp  = sessiontest.HungUp
	until   = sessiontest.Until
	thirsty = sessiontest.Thirsty
)
