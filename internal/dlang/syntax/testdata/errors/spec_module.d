/* CONFIG spec=module command */
fbt:ext4 { }
a:b:c /* ERROR D_PDESC_INVAL "Overspecified" */ { }
12 /* ERROR D_PDESC_INVAL "not permitted when specifying modules" */ { }
