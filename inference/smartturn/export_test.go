package smartturn

// PIDs lists the worker processes.
func (e *Engine) PIDs() []int { return e.pool.PIDs() }
