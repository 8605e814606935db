package consume

import "kinst/internal/record"

func (c *Consumer) appendPrint(b []byte, t *record.Type, data []byte) []byte { return b }
