// Tests packets and queues against the rules of HSA, and the registers of the command processor.

#include "models/command/packet_processor.h"

#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(PacketBench)

TEST_F(PacketProcessorTest, DispatchRunsSignalsAndRetires) {
  open(0);
  signal(0).event_mailbox = kBase + kMailbox;
  signal(0).event_id = 9;
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_GT(signal(0).start_timestamp, 0u);
  EXPECT_GT(signal(0).end_timestamp, signal(0).start_timestamp);
  EXPECT_EQ(b_.at<std::uint64_t>(kMailbox), 9u);
  EXPECT_EQ(queue(0).read_dispatch_id, 1u);
  EXPECT_EQ(b_.at<std::uint16_t>(kRings), header(hsa::PacketType::invalid));
  ASSERT_EQ(b_.kernels.size(), 1u);
  EXPECT_EQ(b_.kernels[0].name, "kernel@0x120000");
  EXPECT_EQ(b_.kernels[0].wavefronts, 1u);
  EXPECT_FALSE(b_.kernels[0].failed);
  EXPECT_TRUE(b_.interrupt.read());
  EXPECT_EQ(b_.reg(LACUNA_GPU_INTERRUPT_STATUS), LACUNA_INTERRUPT_SIGNAL);
  b_.set_reg(LACUNA_GPU_INTERRUPT_STATUS, LACUNA_INTERRUPT_SIGNAL);
  microseconds(1);
  EXPECT_FALSE(b_.interrupt.read());
}

TEST_F(PacketProcessorTest, NoInterruptWithoutMailbox) {
  open(0);
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_FALSE(b_.interrupt.read());
}

TEST_F(PacketProcessorTest, WithoutBarrierBitDispatchesOverlapAndRetireInOrder) {
  open(0);
  put(0, dispatch(1, 0));  // long
  put(0, dispatch(0, 1));  // short
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 0) << "the short one is complete";
  EXPECT_EQ(queue(0).read_dispatch_id, 0u) << "but its slot is not free before the long one's";
  microseconds(10);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(queue(0).read_dispatch_id, 2u);
}

TEST_F(PacketProcessorTest, BarrierBitWaitsForAllBefore) {
  open(0);
  put(0, dispatch(1, 0));
  put(0, dispatch(0, 1, true));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 1);
  microseconds(10);
  EXPECT_EQ(signal(1).value, 0);
  EXPECT_GE(signal(1).start_timestamp, signal(0).end_timestamp);
}

TEST_F(PacketProcessorTest, QueuesAreIndependent) {
  open(0);
  open(1);
  put(0, dispatch(2, 0));  // never ends
  put(1, dispatch(0, 1));
  ring(0);
  ring(1);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, BarrierAndNeedsAllOfItsSignals) {
  open(0);
  put(0, barrier(hsa::PacketType::barrier_and, {2, 3}, 0));
  put(0, dispatch(0, 1));
  ring(0);
  signal(2).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 1) << "packets after a barrier packet wait";
  signal(3).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, BarrierOrNeedsOne) {
  open(0);
  put(0, barrier(hsa::PacketType::barrier_or, {2, 3}, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  signal(3).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
}

TEST_F(PacketProcessorTest, DependencyOnAnotherQueuesKernel) {
  open(0);
  open(1);
  put(0, barrier(hsa::PacketType::barrier_and, {1}, 0));
  put(1, dispatch(1, 1));
  ring(0);
  ring(1);
  microseconds(20);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_GE(signal(0).start_timestamp, signal(1).end_timestamp);
}

TEST_F(PacketProcessorTest, WaitsForAPacketThatIsNotWrittenYet) {
  open(0);
  hsa::KernelDispatchPacket late = dispatch(0, 0);
  late.header = header(hsa::PacketType::invalid);
  put(0, late);
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  b_.at<std::uint16_t>(kRings) = header(hsa::PacketType::kernel_dispatch);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
}

TEST_F(PacketProcessorTest, RingIsUsedRoundAndRound) {
  open(0);
  signal(0).value = 100;
  for (int round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < kRingSize; ++i) put(0, dispatch(0, 0));
    ring(0);
    microseconds(20);
  }
  EXPECT_EQ(signal(0).value, 60);
  EXPECT_EQ(queue(0).read_dispatch_id, 40u);
}

TEST_F(PacketProcessorTest, BadPacketsFailTheirQueueAndOnlyIt) {
  using Packet = hsa::KernelDispatchPacket;
  const struct {
    const char* what;
    void (*spoil)(Packet&);
    std::uint32_t error;
  } table[] = {
      {"type", [](Packet& p) { p.header = 77; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"vendor specific", [](Packet& p) { p.header = 0; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"agent dispatch", [](Packet& p) { p.header = 4; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"dimensions", [](Packet& p) { p.setup = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"grid", [](Packet& p) { p.grid_size[0] = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"workgroup", [](Packet& p) { p.workgroup_size[0] = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"large workgroup", [](Packet& p) { p.workgroup_size[0] = 1025; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"LDS", [](Packet& p) { p.group_segment_size = 65537; }, LACUNA_QUEUE_ERROR_PACKET_SEGMENT},
      {"scratch", [](Packet& p) { p.private_segment_size = 4; }, LACUNA_QUEUE_ERROR_PACKET_SEGMENT},
      {"most scratch", [](Packet& p) { p.private_segment_size = ~0u; }, LACUNA_QUEUE_ERROR_PACKET_SEGMENT},
      {"misaligned kernel", [](Packet& p) { p.kernel_object += 4; }, LACUNA_QUEUE_ERROR_KERNEL_OBJECT},
      {"unmapped kernel", [](Packet& p) { p.kernel_object = 0x10; }, LACUNA_QUEUE_ERROR_KERNEL_OBJECT},
      {"signal", [](Packet& p) { p.completion_signal = 0x123; }, LACUNA_QUEUE_ERROR_SIGNAL},
  };
  open(1);
  for (const auto& row : table) {
    open(0);
    Packet bad = dispatch(0, 0);
    row.spoil(bad);
    put(0, dispatch(0, 0));
    put(0, bad);
    ring(0);
    microseconds(5);
    EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED) << row.what;
    EXPECT_EQ(error(0), row.error) << row.what;
    EXPECT_EQ(b_.reg(LACUNA_GPU_QUEUE_ERROR_PACKET_LO), 1u) << row.what;
    EXPECT_NE(b_.reg(LACUNA_GPU_INTERRUPT_STATUS) & LACUNA_INTERRUPT_QUEUE_ERROR, 0u) << row.what;
    b_.set_reg(LACUNA_GPU_INTERRUPT_STATUS, ~0u);

    signal(1).value = 1;
    put(1, dispatch(0, 1));
    ring(1);
    microseconds(5);
    EXPECT_EQ(signal(1).value, 0) << row.what << ": the other queue continues";
    b_.set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
    b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  }
}

TEST_F(PacketProcessorTest, KernelObjectsThatCannotStartAreRefused) {
  struct Descriptor {
    std::int64_t entry = 0x100;
    std::uint32_t rsrc1 = 0;
    std::uint32_t rsrc2 = 0;
    std::uint16_t properties = 0;
  };
  const std::pair<const char*, Descriptor> table[] = {{"entry point that is not 256-byte aligned", {.entry = 0x104}},
                                                      {"reserved bit", {.rsrc1 = 1u << 27}},
                                                      {"fourth work-item id", {.rsrc2 = 3u << 11}},
                                                      {"wavefronts of 32 lanes", {.properties = 1u << 10}},
                                                      {"more user SGPRs than declared", {.properties = 1}}};
  for (const auto& [what, d] : table) {
    kernel(4, {0xbf810000, 0xbf810000});
    const std::uint64_t at = kKernels + 0x4000;
    b_.at<std::int64_t>(at + 16) = d.entry;
    b_.at<std::uint32_t>(at + 48) = d.rsrc1;
    b_.at<std::uint32_t>(at + 52) = d.rsrc2;
    b_.at<std::uint16_t>(at + 56) = d.properties;
    open(0);
    put(0, dispatch(4, 0));
    ring(0);
    microseconds(5);
    EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_KERNEL_OBJECT) << what;
    b_.cp.packets.destroy_queue(0);
  }
}

TEST_F(PacketProcessorTest, DoorbellBeyondTheRingIsAnOverflow) {
  open(0);
  put(0, dispatch(0, 0));
  ring(0, kRingSize);  // one packet more than the ring holds
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_OVERFLOW);
}

TEST_F(PacketProcessorTest, TrapFailsTheQueueAndNotifiesTheRuntime) {
  open(0);
  queue(0).queue_inactive_signal = signal_handle(5);
  put(0, dispatch(3, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_TRAP);
  EXPECT_EQ(b_.reg(LACUNA_GPU_FAULT_STATUS), LACUNA_FAULT_TRAP);
  EXPECT_EQ(b_.reg(LACUNA_GPU_FAULT_PC_LO), kBase + kKernels + 0x3000 + 0x100);
  EXPECT_EQ(signal(5).value, 0x80000000);
  EXPECT_EQ(signal(0).value, 1) << "a failed kernel does not complete";
  ASSERT_EQ(b_.kernels.size(), 1u);
  EXPECT_TRUE(b_.kernels[0].failed);
  EXPECT_TRUE(b_.units_idle());
}

TEST_F(PacketProcessorTest, DestroyDropsRunningDispatches) {
  open(0);
  put(0, dispatch(2, 0));
  ring(0);
  microseconds(5);
  EXPECT_FALSE(b_.units_idle());
  b_.set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
  b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  EXPECT_TRUE(b_.units_idle());
  EXPECT_EQ(status(0), LACUNA_QUEUE_INACTIVE);
  open(0);
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, QueueCreationIsChecked) {
  queue(0).base_address = kBase + kRings;
  queue(0).size = 6;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "size not a power of two";
  queue(0).size = kRingSize;
  EXPECT_EQ(create(0, kBase + kQueues + 8), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "misaligned";
  EXPECT_EQ(create(0, 0x40), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "unmapped";
  queue(0).base_address = kBase + kBytes - 256;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "ring runs out of the mapping";
  queue(0).base_address = kBase + kRings;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_SLOT) << "in use";
  EXPECT_EQ(create(8, kBase + kQueues), LACUNA_QUEUE_ERROR_SLOT) << "no such slot";
}

// The ring remains where it was when the queue was created, regardless of later writes to the amd_queue_t.
TEST_F(PacketProcessorTest, ARingThatIsMovedInTheQueueStaysWhereItIs) {
  const struct {
    const char* what;
    std::uint64_t base;
    std::uint32_t size;
  } changes[] = {{"unaligned", kBase + kRings + 2, kRingSize},
                 {"unaligned for an atomic access", kBase + kRings + 1, kRingSize},
                 {"elsewhere", kBase + kRings + 0x800, kRingSize},
                 {"unmapped", 0x40, kRingSize},
                 {"at the end of memory", kBase + kBytes - 32, kRingSize},
                 {"no packets", kBase + kRings, 0},
                 {"one packet", kBase + kRings, 1},
                 {"no power of two", kBase + kRings, 3},
                 {"larger", kBase + kRings, 64}};
  for (const DoorbellKind doorbell : {DoorbellKind::ring, DoorbellKind::legacy_index, DoorbellKind::write_index}) {
    for (const auto& [what, base, size] : changes) {
      QueueSetup setup;
      setup.doorbell = doorbell;
      ASSERT_EQ(open_with(0, setup), LACUNA_QUEUE_ERROR_NONE);
      queue(0).base_address = base;
      queue(0).size = size;
      for (unsigned i = 0; i < 12; ++i) signal(i).value = 1;
      for (unsigned i = 0; i < 12; ++i) {
        put(0, dispatch(0, i));
        queue(0).max_legacy_doorbell_dispatch_id_plus_1 = written_[0];
        if (doorbell == DoorbellKind::ring) {
          ring(0);
        } else {
          b_.cp.packets.poll_doorbells();
        }
        microseconds(2);
        EXPECT_EQ(signal(i).value, 0) << what << ", packet " << i;
      }
      EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE) << what;
      EXPECT_EQ(queue(0).read_dispatch_id, 12u) << what;
      b_.cp.packets.destroy_queue(0);
    }
  }
}

TEST_F(PacketProcessorTest, GpuvmRegisters) {
  const auto command = [&](std::uint64_t va, std::uint64_t pa, std::uint64_t size, std::uint32_t what) {
    b_.set_pair(LACUNA_GPU_VM_VA_LO, va);
    b_.set_pair(LACUNA_GPU_VM_PA_LO, pa);
    b_.set_pair(LACUNA_GPU_VM_SIZE_LO, size);
    b_.set_reg(LACUNA_GPU_VM_COMMAND, what);
    return b_.reg(LACUNA_GPU_VM_STATUS);
  };
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_OK);
  EXPECT_EQ(b_.vm.find(0x900000).grain, isa::Grain::coarse);
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_OVERLAP);
  EXPECT_EQ(command(0x910010, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_MISALIGNED);
  EXPECT_EQ(command(0x910000, kBytes, 0x1000, LACUNA_VM_MAP), LACUNA_VM_BAD_ADDRESS);
  EXPECT_EQ(command(0x900000, 0, 0x2000, LACUNA_VM_UNMAP), LACUNA_VM_NOT_MAPPED);
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_UNMAP), LACUNA_VM_OK);
  b_.set_reg(LACUNA_GPU_VM_FLAGS, LACUNA_VM_READ | LACUNA_VM_FINE_GRAINED);
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_OK);
  EXPECT_EQ(b_.vm.find(0x900000).grain, isa::Grain::fine);
  EXPECT_EQ(b_.vm.find(0x900000).granted, isa::Access::read);
}

TEST_F(PacketProcessorTest, AperturesAreSetByTheDriver) {
  b_.cp.set_apertures(0x0001000000000000, 0x0002000000000000);
  EXPECT_EQ(b_.reg(LACUNA_GPU_SHARED_APERTURE_HI), 0x00010000u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_PRIVATE_APERTURE_HI), 0x00020000u);
  // v_mov_b32 v0, 8; v_mov_b32 v1, 0x10000; v_mov_b32 v2, 0x55; flat_store_dword v[0:1], v2; s_waitcnt 0;
  // flat_load_dword v3, v[0:1]; v_mov_b32 v0, 0x103000; v_mov_b32 v1, 0; s_waitcnt 0; flat_store_dword v[0:1], v3; s_endpgm
  kernel(4, {0x7e000288, 0x7e0202ff, 0x00010000, 0x7e0402ff, 0x55, 0xdc700000, 0x00000200, 0xbf8c0000, 0xdc500000, 0x03000000,
             0xbf8c0000, 0x7e0002ff, 0x00103000, 0x7e020280, 0xdc700000, 0x00000300, 0xbf810000});
  open(0);
  hsa::KernelDispatchPacket packet = dispatch(4, 0);
  packet.group_segment_size = 512;
  put(0, packet);
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(b_.at<std::uint32_t>(0x3000), 0x55u) << "through the LDS";
}

TEST_F(PacketProcessorTest, DiscoveryRegisters) {
  EXPECT_EQ(b_.reg(LACUNA_GPU_MAGIC), LACUNA_GPU_MAGIC_VALUE);
  EXPECT_EQ(b_.reg(LACUNA_GPU_VERSION), LACUNA_GPU_VERSION_VALUE);
  EXPECT_EQ(b_.reg(LACUNA_GPU_TARGET), 0x080003u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_COMPUTE_UNITS), 1u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_SIMDS_PER_CU), 4u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_WAVEFRONT_SIZE), 64u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_LDS_BYTES_PER_CU), 65536u);
  const std::uint64_t first = b_.reg(LACUNA_GPU_TIMESTAMP_LO) | std::uint64_t{b_.reg(LACUNA_GPU_TIMESTAMP_HI)} << 32;
  microseconds(3);
  const std::uint64_t second = b_.reg(LACUNA_GPU_TIMESTAMP_LO) | std::uint64_t{b_.reg(LACUNA_GPU_TIMESTAMP_HI)} << 32;
  EXPECT_EQ(second - first, 3000u);
}

}  // namespace
}  // namespace lacuna::test
