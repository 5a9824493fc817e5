"""Which names really exist on each side, so that no rule ever writes one that does not.

Read from torch_npu 2.13 and torch 2.13. A name that is missing here is reported, never guessed.
"""

from __future__ import annotations

NPU: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "torch.npu": """
            BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CharStorage CharTensor
            CubeMathType DoubleStorage DoubleTensor Event ExternalEvent ExternalStream FloatStorage FloatTensor
            HalfStorage HalfTensor IntStorage IntTensor LongStorage LongTensor MemPool NPUGraph NPUPluggableAllocator
            NpuGraphOpHandler ShortStorage ShortTensor Stream StreamContext SyncLaunchStream aclnn amp
            are_compatible_impl_enabled autocast_utils backends caching_allocator_alloc caching_allocator_delete
            can_device_access_peer change_current_allocator check_uce_in_memory clear_npu_overflow_flag config conv
            current_blas_handle current_device current_stream default_generators default_stream deterministic device
            device_count device_of disable_deterministic_with_backward empty_cache empty_virt_addr_cache
            enable_deterministic_with_backward enable_flash_sdp enable_math_sdp enable_mem_efficient_sdp finalize_dump
            flash_sdp_enabled get_allocator_backend get_amp_supported_dtype get_autocast_dtype get_default_generator
            get_device_capability get_device_limit get_device_name get_device_properties get_mm_bmm_format_nd
            get_npu_overflow_flag get_per_process_memory_fraction get_rng_state get_rng_state_all get_soc_version
            get_stream_limit get_sync_debug_mode get_task_queue_enable graph graph_pool_handle graph_task_group_begin
            graph_task_group_end graph_task_update_begin graph_task_update_end graphs host_empty_cache
            host_memory_stats host_memory_stats_as_nested_dict init init_dump initial_seed ipc_collect
            is_autocast_enabled is_available is_bf16_supported is_current_stream_capturing is_initialized
            is_jit_compile_false make_graphed_callables manual_seed manual_seed_all math_sdp_enabled matmul
            max_memory_allocated max_memory_cached max_memory_reserved mem_efficient_sdp_enabled mem_get_info memory
            memory_allocated memory_cached memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict
            memory_summary mstx npu_config npugraph_ex npurt obfuscation_calculate obfuscation_finalize
            obfuscation_initialize preferred_linalg_library random register_npu_graph_handler
            reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated
            reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats reset_stream_limit
            restart_device sdp_kernel seed seed_all set_aoe set_autocast_dtype set_autocast_enabled set_compile_mode
            set_deterministic_level set_device set_device_limit set_dump set_mm_bmm_format_nd set_op_timeout_ms
            set_option set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream set_stream_limit
            set_sync_debug_mode set_task_queue_enable stop_device stream streams stress_detect
            super_kernel_scope_begin super_kernel_scope_end synchronize use_compatible_impl use_mem_pool utilization
            utils
        """,
        "torch.npu.amp": """
            GradScaler autocast autocast_mode common custom_bwd custom_fwd grad_scaler sharded_grad_scaler
        """,
        "torch.npu.random": """
            device_count get_default_generator get_rng_state get_rng_state_all initial_seed is_initialized manual_seed
            manual_seed_all seed seed_all set_rng_state set_rng_state_all
        """,
        "torch.npu.memory": """
            MemPool NPUPluggableAllocator caching_allocator_alloc caching_allocator_delete change_current_allocator
            empty_cache empty_virt_addr_cache get_allocator_backend get_per_process_memory_fraction host_empty_cache
            host_memory_stats host_memory_stats_as_nested_dict is_initialized max_memory_allocated max_memory_cached
            max_memory_reserved memory_allocated memory_cached memory_reserved memory_snapshot memory_stats
            memory_stats_as_nested_dict memory_summary reset_accumulated_host_memory_stats
            reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached
            reset_peak_host_memory_stats reset_peak_memory_stats set_per_process_memory_fraction use_mem_pool
        """,
        "torch.npu.streams": """
            Event ExternalEvent ExternalStream Stream SyncLaunchStream
        """,
        "torch.npu.graphs": """
            NPUGraph TensorWeakRef force_npugraph_gc graph graph_pool_handle graph_task_group_begin
            graph_task_group_end graph_task_update_begin graph_task_update_end is_current_stream_capturing
            make_graphed_callables super_kernel_scope_begin super_kernel_scope_end
        """,
        "torch_npu.profiler": """
            AiCMetrics ExportType HostSystem ProfilerAction ProfilerActivity ProfilerLevel analysis dynamic_profile
            experimental_config profile profiler profiler_interface schedule scheduler supported_activities
            supported_ai_core_metrics supported_export_type supported_profiler_level tensorboard_trace_handler
        """,
        "torch_npu.optim": """
            NpuFusedAdadelta NpuFusedAdam NpuFusedAdamP NpuFusedAdamW NpuFusedBertAdam NpuFusedLamb
            NpuFusedOptimizerBase NpuFusedRMSprop NpuFusedRMSpropTF NpuFusedSGD distributed_muon npu_fused_adadelta
            npu_fused_adam npu_fused_adamp npu_fused_adamw npu_fused_bert_adam npu_fused_lamb npu_fused_optim_base
            npu_fused_rmsprop npu_fused_rmsprop_tf npu_fused_sgd
        """,
    }.items()
}

CUDA: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "torch.cuda": """
            BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CUDAGraph
            CUDAPluggableAllocator CharStorage CharTensor ComplexDoubleStorage ComplexFloatStorage CudaError
            DeferredCudaCallError DoubleStorage DoubleTensor Event ExternalStream FloatStorage FloatTensor
            GreenContext HalfStorage HalfTensor IntStorage IntTensor LongStorage LongTensor MemPool ShortStorage
            ShortTensor Stream StreamContext amp caching_allocator_alloc caching_allocator_delete
            caching_allocator_disabled caching_allocator_enable can_device_access_peer change_current_allocator
            check_error clock_rate cudaStatus cudart current_blas_handle current_device current_solver_handle
            current_stream default_generators default_stream device device_count device_memory_used device_of
            empty_cache get_allocator_backend get_arch_list get_device_capability get_device_name
            get_device_properties get_gencode_flags get_per_process_memory_fraction get_rng_state get_rng_state_all
            get_stream_from_external get_sync_debug_mode graph graph_pool_handle graphs has_half has_magma
            host_memory_stats host_memory_stats_as_nested_dict init initial_seed ipc_collect is_available
            is_bf16_supported is_current_stream_capturing is_initialized is_tf32_supported jiterator
            list_gpu_processes make_graphed_callables manual_seed manual_seed_all max_memory_allocated
            max_memory_cached max_memory_reserved mem_get_info memory memory_allocated memory_cached memory_reserved
            memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary memory_usage nccl nvtx power_draw
            profiler random reset_accumulated_host_memory_stats reset_accumulated_memory_stats
            reset_max_memory_allocated reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats
            seed seed_all set_device set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream
            set_sync_debug_mode sparse stream streams synchronize temperature tunable use_mem_pool utilization
            OutOfMemoryError AcceleratorError comm gds green_contexts
        """,
        "torch.cuda.amp": """
            GradScaler autocast autocast_mode common custom_bwd custom_fwd grad_scaler
        """,
        "torch.cuda.random": """
            device_count get_rng_state get_rng_state_all initial_seed is_initialized manual_seed manual_seed_all seed
            seed_all set_rng_state set_rng_state_all
        """,
        "torch.cuda.memory": """
            MemPool caching_allocator_alloc caching_allocator_delete change_current_allocator empty_cache
            get_allocator_backend get_per_process_memory_fraction host_memory_stats host_memory_stats_as_nested_dict
            is_initialized max_memory_allocated max_memory_cached max_memory_reserved memory_allocated memory_cached
            memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary
            reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated
            reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats
            set_per_process_memory_fraction use_mem_pool CUDAPluggableAllocator
        """,
        "torch.cuda.streams": """
            Event ExternalStream Stream
        """,
        "torch.cuda.graphs": """
            CUDAGraph graph graph_pool_handle is_current_stream_capturing make_graphed_callables
        """,
    }.items()
}

#: functions of torch.cuda and torch.npu → their name in torch.accelerator (torch 2.6 and later)
ACCELERATOR: dict[str, str] = {
    name: name
    for name in """
        is_available device_count synchronize empty_cache current_stream set_stream memory_allocated memory_reserved
        max_memory_allocated max_memory_reserved memory_stats reset_accumulated_memory_stats reset_peak_memory_stats
    """.split()
} | {
    "set_device": "set_device_index",
    "current_device": "current_device_index",
    "device": "device_index",
    "mem_get_info": "get_memory_info",
}

#: names that live in torch itself and mean the same on every device
NEUTRAL: dict[str, str] = {
    "OutOfMemoryError": "OutOfMemoryError",
    "manual_seed": "manual_seed",
    "manual_seed_all": "manual_seed",
    "Stream": "Stream",
    "Event": "Event",
}
