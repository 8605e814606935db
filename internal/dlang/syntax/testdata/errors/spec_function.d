/* CONFIG spec=function command */
fbt:ext4:ext4_read { }
a:b:c:d /* ERROR D_PDESC_INVAL "Overspecified" */ { }
12 /* ERROR D_PDESC_INVAL "not permitted when specifying functions" */ { }
