/* CONFIG spec=provider command */
syscall { }
syscall:x /* ERROR D_PDESC_INVAL "Overspecified" */ { }
12 /* ERROR D_PDESC_INVAL "probe identifier 12 not permitted when specifying providers" */ { }
